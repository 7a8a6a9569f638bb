import { describe, expect, it } from 'vitest'
import { makeSite, type Repository, renderLlmsTxt, renderStaged } from '../../../site/pages.ts'
import { readSite } from '../../../site/stage.ts'

const readme = `# Tool

**Keeps watch.**

<picture><img src="docs/images/a.png" alt="A"></picture>

See [costs](docs/cost.md#limits) and [the license](LICENSE).

## Documentation

- **Guides:** [cost gate](docs/cost.md)
- **Project:** [decisions](docs/decisions) · [security](SECURITY.md) · [license](LICENSE)

## After

Last.
`

const others = ['LICENSE', 'docs/decisions', 'docs/images/a.png', 'examples', 'examples/gate.yml', 'src']

function repository(documents: Readonly<Record<string, string>>): Repository {
  const all: Readonly<Record<string, string>> = {
    'README.md': readme,
    'SECURITY.md': '# Security\n\nReport it. See [costs](docs/cost.md).\n',
    'docs/cost.md': '# The cost gate\n\nCompares\ncosts. See [home](../README.md).\n',
    'docs/decisions/0001-lists.md': '# 1. Lists\n\nContext. See [costs](../cost.md).\n',
    ...documents,
  }
  return {
    documents: new Map(Object.entries(all)),
    kindOf: (path) => (others.includes(path) || path in all ? (/\./.test(path) || path === 'LICENSE' ? 'file' : 'directory') : undefined),
  }
}

const markdownOf = (documents: Readonly<Record<string, string>>, path: string): string =>
  makeSite(repository(documents)).pages.find((page) => page.path === path)?.markdown ?? ''

const costPage = (text: string): string =>
  markdownOf({ 'docs/cost.md': `# Cost\n\n${text}\n` }, 'cost.md')
    .replace('# Cost\n\n', '')
    .trimEnd()

describe('a link of a document', () => {
  it.each([
    ['[a](../README.md)', '[a](index.md)'],
    ['[a](../SECURITY.md#report-it)', '[a](security.md#report-it)'],
    ['[a](decisions/0001-lists.md)', '[a](decisions/0001-lists.md)'],
    ['[a](decisions)', '[a](decisions/index.md)'],
    ['[a](#limits)', '[a](#limits)'],
    ['![a](images/a.png)', '![a](images/a.png)'],
    ['[![images/a.png](images/a.png)](../README.md)', '[![images/a.png](images/a.png)](index.md)'],
    ['[a][b]\n\n[b]: ../SECURITY.md', '[a][b]\n\n[b]: security.md'],
  ])('leads to the page: %s', (written, staged) => {
    expect(costPage(written)).toBe(staged)
  })

  it.each([
    ['[a](../examples/gate.yml#L3)', '[a](https://github.com/watchkeeper/watchkeeper/blob/main/examples/gate.yml#L3)'],
    ['[a](../examples/)', '[a](https://github.com/watchkeeper/watchkeeper/tree/main/examples)'],
    ['[a](../LICENSE)', '[a](https://github.com/watchkeeper/watchkeeper/blob/main/LICENSE)'],
    ['[a](https://example.com/x.md)', '[a](https://example.com/x.md)'],
    ['<mail@example.com>', '<mail@example.com>'],
  ])('leads to GitHub or elsewhere: %s', (written, staged) => {
    expect(costPage(written)).toBe(staged)
  })

  it.each(['`[a](../README.md)`', '```md\n[a](../README.md)\n```', `budget: $\{{ vars.BUDGET }} and {{ x }} <b>{y}</b>`])(
    'a link of a document is left as it is in code, and so is everything else: %s',
    (text) => {
      expect(costPage(text)).toBe(text)
    },
  )

  it.each(['[a](gone.md)', '![a](images/gone.png)', '<img src="gone.png">', '[a][b]\n\n[b]: ../gone'])(
    'a link of a document that leads nowhere fails the build: %s',
    (written) => {
      expect(() => costPage(written)).toThrow(/^docs\/cost\.md: \S*gone\S* leads to no file of the repository$/)
    },
  )
})

describe('the site', () => {
  it('the site starts with the README, without its list of documents', () => {
    expect(markdownOf({}, 'index.md')).toBe(
      '# Tool\n\n**Keeps watch.**\n\n<picture><img src="images/a.png" alt="A"></picture>\n\nSee [costs](cost.md#limits) and [the license](https://github.com/watchkeeper/watchkeeper/blob/main/LICENSE).\n\n## After\n\nLast.\n',
    )
  })

  it('the site has the list of the README as its navigation, with the decisions as one page', () => {
    const { sections } = makeSite(repository({}))
    expect(sections.map(({ title, items }) => [title, items.map(({ label, page }) => `${label}: ${page.path}`)])).toEqual([
      ['Guides', ['Cost gate: cost.md']],
      ['Project', ['Decisions: decisions/index.md', 'Security: security.md']],
    ])
    expect(markdownOf({}, 'decisions/index.md')).toContain('- [1. Lists](0001-lists.md)\n')
  })

  it('fails when the README does not list a document', () => {
    expect(() => makeSite(repository({ 'docs/new.md': '# New\n' }))).toThrow(
      'docs/new.md: README.md does not list it under "Documentation"',
    )
  })

  it('fails when the README has no list', () => {
    expect(() => makeSite(repository({ 'README.md': '# Tool\n' }))).toThrow('README.md has no list under "Documentation"')
  })

  it('the site has the edit link, the title and the first paragraph of a page for the generator', () => {
    const page = makeSite(repository({})).pages.find(({ path }) => path === 'cost.md')
    expect(page && renderStaged(page)).toBe(
      '---\n{"title":"The cost gate","description":"Compares costs. See home.","editUrl":"https://github.com/watchkeeper/watchkeeper/edit/main/docs/cost.md"}\n---\n\n# The cost gate\n\nCompares\ncosts. See [home](index.md).\n',
    )
  })

  it('the site has a map in Markdown', () => {
    expect(renderLlmsTxt(makeSite(repository({})))).toBe(
      '# Tool\n\n> Keeps watch.\n\n## Guides\n\n- [Cost gate](https://watchkeeper.github.io/watchkeeper/cost.md): Compares costs. See home.\n\n## Project\n\n- [Decisions](https://watchkeeper.github.io/watchkeeper/decisions/index.md): Why the project is built as it is: each decision with its context, its consequences and rejected alternatives.\n- [Security](https://watchkeeper.github.io/watchkeeper/security.md): Report it. See costs.\n',
    )
  })
})

it('every document of the repository becomes a page with a title and a description', { tags: 'slow' }, () => {
  const { pages, sections } = readSite()
  expect(sections.map(({ title }) => title)).toEqual(['Guides', 'Reference', 'Project'])
  expect(pages.length).toBeGreaterThan(30)
  expect(pages.filter(({ title, description }) => title === '' || description === '').map(({ path }) => path)).toEqual([])
})
