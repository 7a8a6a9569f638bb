import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { join, placed, say, strong, toPlainText, trusted, untrusted, untrustedSentence } from '../../../../src/platform/core/line.ts'
import { progressBar, sparkline } from '../../../../src/platform/core/text.ts'
import { toTable } from '../../../../src/platform/report/blocks.ts'
import { toDiffLines } from '../../../../src/platform/report/diff-lines.ts'
import { renderMarkdown } from '../../../../src/platform/report/markdown.ts'
import { renderTerminal } from '../../../../src/platform/report/terminal.ts'
import { cpuRatio, tenfold } from '../../../support/clocks.ts'
import { hostile } from '../../../support/corpus.ts'
import { kindsIn, nodesOf, parseMarkdown } from '../../../support/output-oracle.ts'

describe('say', () => {
  it('trusts its own words and numbers, and no text that is put in', () => {
    expect(say`Alert ${'x'} has ${2} ${strong('tiles')}`).toEqual([
      trusted('Alert '),
      untrusted('x'),
      trusted(' has '),
      trusted('2'),
      trusted(' '),
      strong('tiles'),
    ])
    expect(say`${'x'}${say`${'y'}!`}`).toEqual([untrusted('x'), untrusted('y'), trusted('!')])
  })

  it('is joined with a separator between lines only', () => {
    expect(join([], ', ')).toEqual([])
    expect(join([say`a`], ', ')).toEqual([trusted('a')])
    expect(toPlainText(join([say`a`, say`${'b'}`, say`c`], ', '))).toBe('a, b, c')
  })
})

describe('a sentence', () => {
  const markdownOf = (text: string): string => renderMarkdown([{ kind: 'paragraph', line: untrustedSentence(text) }]).trim()

  it('a sentence is prose, and only its names are code', () => {
    const text = 'alerts.slow: an alert named "Checkout is slow" exists (65f5e4a35eedc0de00000020 or b/c.yml x.yml); 5% → add adopt'
    expect(toPlainText(untrustedSentence(text))).toBe(text)
    expect(markdownOf(text)).toBe(
      '`alerts.slow`: an alert named "Checkout is slow" exists (`65f5e4a35eedc0de00000020` or `b/c.yml x.yml`); 5% → add adopt',
    )
  })

  it('a sentence has each command in one piece, without what follows it', () => {
    const command = "watchkeeper apply --project a/b --files 'it'\\''s **/*.{yml,yaml}' --project c.d"
    expect(markdownOf(`If so, run once: ${command}. To stop, use none`)).toBe(`If so, run once: \`${command}\`. To stop, use none`)
    expect(markdownOf(`${command}; (${command})`)).toBe(`\`${command}\`; (\`${command}\`)`)
  })

  it('a sentence has the text in backticks as code, also beside other names', () => {
    const text = 'no row matches `a.b and c` in 7 days; did you mean `d`? (`e`.) x_`f`'
    expect(markdownOf(text)).toBe('no row matches `a.b and c` in 7 days; did you mean `d`? (`e`.) `` x_`f` ``')
    expect(renderTerminal([{ kind: 'paragraph', line: untrustedSentence(text) }], { color: false }).join(' ')).toContain(text)
  })

  it('a sentence has the whole of a long command, and ends after it', () => {
    const command = `watchkeeper delete-alert 65f5e4a35eedc0de0000001f${" --files 'a b/**/*.{yml,yaml}'".repeat(60)}`
    const words = 'word '.repeat(300)
    expect(markdownOf(`Run ${command}, then ${words}`)).toBe(`Run \`${command}\` … (${words.length + 7} more characters)`)
    const diagnostics = [
      { rule: 'held', severity: 'error', message: `Run ${command}, then ${words}`, location: { file: 'a.yml' } },
    ] as const
    expect(renderTerminal([{ kind: 'diagnostics', diagnostics }], { color: false }).join('\n')).toContain(`Run ${command} … (`)
    expect(markdownOf(`Run ${command}.`)).toBe(`Run \`${command}\`.`)
    expect(markdownOf(words).length).toBeLessThan(1100)
  })

  it('a sentence has nothing outside of code that a medium would link, mention or format', { tags: 'slow' }, () => {
    const more = '@octocat #12 GH-12 PROJ-7 deadbeef org/repo#1 www.x.y a@b.c :smile: !12 &3 ~label <!here> *b* _i_ [a](b) /close'.split(
      ' ',
    )
    for (const text of [...hostile.map(({ value }) => value), ...more, '1. a', '- a', '# a', 'a "@b" (@c) @d, @e.']) {
      const markdown = markdownOf(text)
      const outside = [...nodesOf(parseMarkdown(markdown))].flatMap(({ type, value = '' }) => (type === 'text' ? [value] : [])).join('')
      expect(
        [...kindsIn(markdown)].filter((kind) => !['root', 'paragraph', 'text', 'inlineCode', 'emphasis'].includes(kind)),
        text,
      ).toEqual([])
      expect(outside, text).not.toMatch(/[@#!&~<>*_[\]`|\\]|[a-z][:.][a-z]|[0-9a-f]{7}|\b[a-z]+-\d/i)
    }
  })
})

describe('a small drawing', () => {
  const lineOf = (...values: readonly number[]): string => sparkline(values)

  it('a small drawing goes from zero to the largest value', () => {
    expect(lineOf(0, 1, 2, 3.5, 7)).toBe('▁▂▃▅█')
    expect(lineOf(5)).toBe('█')
  })

  it('lies on the ground where nothing was used, and no value is below it', () => {
    expect(lineOf(0, 0)).toBe('▁▁')
    expect(lineOf(-3, 3)).toBe('▁█')
    expect(lineOf()).toBe('')
  })

  it.each([
    [0, '░░░░░░░░░░'],
    [4.9, '░░░░░░░░░░'],
    [5, '█░░░░░░░░░'],
    [61.2, '██████░░░░'],
    [95, '█████████░'],
    [99.99, '█████████░'],
    [100, '██████████'],
    [1000, '██████████'],
    [-20, '░░░░░░░░░░'],
  ])('a small drawing of a share of %d percent is %s', (percent, expected) => {
    expect(progressBar(percent)).toBe(expected)
  })
})

describe('diagnostics', () => {
  it('diagnostics become a table where a medium has tables', () => {
    const location = { file: 'f.yml', line: 1, column: 2 }
    const table = toTable({
      kind: 'diagnostics',
      diagnostics: [
        { rule: 'syntax', severity: 'error', location, message: 'It is wrong.' },
        { rule: 'lint', severity: 'warning', location: { file: 'g.yml' }, message: 'It is odd.' },
        { rule: 'hint', severity: 'note', location, message: 'It is new.' },
      ],
    })
    expect(table).toEqual({
      kind: 'table',
      columns: [{ title: 'Severity' }, { title: 'Message' }, { title: 'Location' }, { title: 'Rule' }],
      rows: [
        [[trusted('❌ error')], untrustedSentence('It is wrong.'), [placed('f.yml:1:2', location)], [trusted('syntax')]],
        [[trusted('⚠️ warning')], untrustedSentence('It is odd.'), [placed('g.yml', { file: 'g.yml' })], [trusted('lint')]],
        [[trusted('ℹ️ note')], untrustedSentence('It is new.'), [placed('f.yml:1:2', location)], [trusted('hint')]],
      ],
    })
  })
})

describe('a changed field', () => {
  const linesOf = (...fields: Parameters<typeof toDiffLines>[0]): readonly string[] =>
    toDiffLines(fields).map(({ sign, text }) => `${sign}${text}`)

  it.each([
    ['is one line where both sides are short', { before: 1, after: 'two' }, ['~    x: 1 → two']],
    ['is one line for a side that is missing', { after: true }, ['+    x: true']],
    ['is one line for a side that goes', { before: ['a', 'b'] }, ['-    x: ["a","b"]']],
    [
      'is one line as long as it fits',
      { before: 'a'.repeat(34), after: 'b'.repeat(34) },
      [`~    x: ${'a'.repeat(34)} → ${'b'.repeat(34)}`],
    ],
    [
      'is a line for each side where one line is too short',
      { before: 'a'.repeat(34), after: 'b'.repeat(35) },
      ['~    x:', `-      ${'a'.repeat(34)}`, `+      ${'b'.repeat(35)}`],
    ],
    [
      'is the part of two long texts that differs',
      { before: `${'word '.repeat(20)}5 minutes${' end'.repeat(20)}`, after: `${'word '.repeat(20)}an hour${' end'.repeat(20)}` },
      [
        '~    x:',
        '-      …word word word 5 minutes end end end end end end end end end end end…',
        '+      …word word word an hour end end end end end end end end end end end e…',
      ],
    ],
    [
      'has all of a long change, broken between words',
      { before: 'a', after: 'word '.repeat(20).trimEnd() },
      ['~    x:', '-      a', `+      ${'word '.repeat(14).trimEnd()}`, `+        ${'word '.repeat(6).trimEnd()}`],
    ],
    ['is a block where a new text has lines', { after: 'a\n\u001bb\n' }, ['+    x: |', '+      a', '+      \\u001bb']],
    ['is a block where an old text had lines', { before: 'a\nb' }, ['-    x: |', '-      a', '-      b']],
    ['is one line for a text with one line', { after: 'a\n' }, ['+    x: "a\\n"']],
    [
      'is what differs of long texts',
      {
        before: 'a\nb',
        after: 'a\nc',
        lines: [
          { sign: ' ', text: 'a' },
          { sign: '-', text: 'b' },
          { sign: '+', text: 'c' },
        ],
      },
      ['~    x:', '       a', '-      b', '+      c'],
    ],
  ] as const)('%s', (_, field, expected) => {
    expect(linesOf({ path: 'x', ...field })).toEqual(expected)
  })

  it('compares the longest text that a tile can have in time that grows with the text', async () => {
    const prepare = (count: number) => {
      const lines = [...Array.from({ length: count }, () => ({ sign: ' ' as const, text: 'a' })), { sign: '+' as const, text: 'b' }]
      return () => expect(linesOf({ path: 'x', before: 'a', after: 'b', lines })).toHaveLength(6)
    }
    expect(await cpuRatio(prepare(20_000), prepare(2000))).toBeLessThanOrEqual(tenfold)
  })

  it('pairs lines where as many were removed as were added, and cuts a long line that stays', () => {
    const long = (start: string, end: string) => `${start} ${'- '.repeat(60)}${end}`
    const lines = [
      { sign: ' ' as const, text: 'a'.repeat(100) },
      { sign: '-' as const, text: long('one', 'first') },
      { sign: '-' as const, text: long('two', 'second') },
      { sign: '+' as const, text: long('one', 'third') },
      { sign: '+' as const, text: long('two', 'fourth') },
      { sign: '-' as const, text: long('three', '') },
    ]
    expect(linesOf({ path: 'x', before: 'a', after: 'b', lines })).toEqual([
      '~    x:',
      `       ${'a'.repeat(69)}…`,
      '-      …- - - - - - - first',
      '-      …- - - - - - - second',
      '+      …- - - - - - - third',
      '+      …- - - - - - - fourth',
      `-      three ${'- '.repeat(32).trimEnd()}`,
      `-        ${'- '.repeat(28).trimEnd()}`,
    ])
  })

  it('pairs the most alike of up to 10,000 pairs, and none of more', { tags: 'slow' }, () => {
    const line = (i: number, end: string) => `${'- '.repeat(40)}${i} ${end}`
    const shownOf = (removed: number, added: number) => {
      const of = (sign: '-' | '+', count: number, end: string) => Array.from({ length: count }, (_, i) => ({ sign, text: line(i, end) }))
      return linesOf({ path: 'x', before: 'a', after: 'b', lines: [...of('-', removed, 'old'), ...of('+', added, 'new')] })
    }
    expect([shownOf(1, 10_000), shownOf(1, 10_001)].map((lines) => lines[1]?.startsWith('-      …'))).toEqual([true, false])
  })

  it('names both sides of a long text', () => {
    const sides = { before: 'service', after: 'file' }
    const shownOf = (before: unknown, after: unknown) =>
      toDiffLines([{ path: 'x', before, after }], sides).map(({ sign, text }) => `${sign}${text}`)
    expect(shownOf(1, 2)).toEqual(['~    x: file: 2, service: 1'])
    expect(shownOf('a'.repeat(60), 'b')).toEqual(['~    x: + file, − service', `-      ${'a'.repeat(60)}`, '+      b'])
    expect(shownOf(undefined, 'b'.repeat(60))).toEqual(['~    x: + file, − service', `+      ${'b'.repeat(60)}`])
  })

  it('shows every change of long texts, however far it is from their start and from each other', () => {
    const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`).join(' ')
    const text = (first: string, second: string) => `${words(200)} ${first} ${words(300)} ${second} ${words(100)}`
    expect(linesOf({ path: 'x', before: text('a', 'c'), after: text('b', 'd') })).toEqual([
      '~    x:',
      '-      …w197 w198 w199 a w0 w1 w2 w3 w4 …w297 w298 w299 c w0 w1 w2 w3 w4 …',
      '+      …w197 w198 w199 b w0 w1 w2 w3 w4 …w297 w298 w299 d w0 w1 w2 w3 w4 …',
    ])
    const tags = (last: string) => [...Array.from({ length: 60 }, (_, i) => `tag ${i}`), last]
    expect(linesOf({ path: 'x', before: tags('old'), after: tags('new') })).toEqual([
      '~    x:',
      '-      …58","tag 59","old"]',
      '+      …58","tag 59","new"]',
    ])
    const lines = [
      { sign: '-' as const, text: `${words(200)} one` },
      { sign: '+' as const, text: 'another' },
      { sign: '+' as const, text: `${words(200)} two` },
    ]
    expect(linesOf({ path: 'x', before: 'a', after: 'b', lines })).toEqual([
      '~    x:',
      '-      …w197 w198 w199 one',
      '+      another',
      '+      …w197 w198 w199 two',
    ])
  })

  describe('in one long line', () => {
    const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1)
    const sidesOf = (before: unknown, after: unknown) => {
      const lines = linesOf({ path: 'x', before, after })
      const side = (sign: string) =>
        lines
          .filter((line) => line.startsWith(sign))
          .map((line) => line.slice(1).trim())
          .join(' ')
      return [side('-'), side('+')]
    }
    /** The windows of both sides, without what is around the changes. */
    const windowsOf = (text = '') => text.split('…').filter(Boolean)

    it('shows two changed cells of a table that repeats itself, and not the rows between them', () => {
      const rows = (count: number, changed: readonly number[]) =>
        numbers(count)
          .map((i) => `| row ${i} | ok | ok | ${changed.includes(i) ? 'BAD' : 'ok'} | ok | ok |`)
          .join(' ')
      for (const [count, first, second] of [
        [25, 3, 20],
        [60, 5, 50],
      ] as const) {
        const [removed, added] = sidesOf(rows(count, []), rows(count, [first, second]))
        expect(windowsOf(removed)).toHaveLength(2)
        expect(added?.match(/BAD/g)).toHaveLength(2)
        expect(windowsOf(added).map((window) => window.length < 60)).toEqual([true, true])
        expect(added).not.toContain('more')
      }
    })

    it('shows two changed columns of a query that repeats itself', () => {
      const query = (changes: Readonly<Record<number, string>>) =>
        `SELECT ${numbers(40)
          .map((i) => `sum(if(code = ${changes[i] ?? 500 + i}, 1, 0)) / sum(1) AS r${i}`)
          .join(', ')} FROM logs`
      expect(sidesOf(query({}), query({ 4: '404', 30: '429' }))).toEqual([
        '…sum(if(code = 504, 1, 0)) / sum…sum(if(code = 530, 1, 0)) / sum(1…',
        '…sum(if(code = 404, 1, 0)) / sum…sum(if(code = 429, 1, 0)) / sum(1…',
      ])
    })

    it('shows two changes of a long note', () => {
      const note = (limit: string, person: string) =>
        `# Checkout ${'Look at the dashboard first. '.repeat(10)}Restart above ${limit} errors. ${'Then wait a minute. '.repeat(20)}Call ${person} if it stays. ${'Write it down. '.repeat(10)}`
      const [removed, added] = sidesOf(note('10', 'Ada'), note('25', 'Grace'))
      expect(removed).toMatch(/^…[^…]*above 10 errors[^…]*…[^…]*Call Ada if[^…]*…$/)
      expect(added).toMatch(/^…[^…]*above 25 errors[^…]*…[^…]*Call Grace if[^…]*…$/)
    })

    it('shows the last changes of many tags', () => {
      const tags = (...last: readonly string[]) => [...numbers(19).map((i) => `team:${i}`), ...last]
      expect(sidesOf(tags('tier:1', 'zone:a'), tags('tier:2', 'zone:b'))).toEqual([
        '…"team:19","tier:1","zone:a"]',
        '…"team:19","tier:2","zone:b"]',
      ])
    })

    it('shows a changed emoji and a changed blank', () => {
      const text = (middle: string) => `${'word 😀 '.repeat(20)}${middle}${' word 😀'.repeat(20)}`
      const [removed, added] = sidesOf(text('👍🏽'), text('👍🏿'))
      expect(removed).toContain('word 😀 👍🏽 word')
      expect(added).toContain('word 😀 👍🏿 word')
      const blanks = sidesOf(text('a b'), text('a  b'))
      expect(blanks[0]).toContain('😀 a b word')
      expect(blanks[1]).toContain('😀 a  b word')
      // The second half of these two characters is the same.
      const far = (name: string, end: string) => `${'same '.repeat(20)}${name}${' same'.repeat(40)} ${end}`
      expect(sidesOf(far('𠀀', 'old'), far('𠐀', 'new'))).toEqual([
        '…same same same 𠀀 same same same …same same same old',
        '…same same same 𠐀 same same same …same same same new',
      ])
    })

    it('shows the end of a long word, such as a key, that differs there', () => {
      const [removed, added] = sidesOf(`${'a1'.repeat(400)}x`, `${'a1'.repeat(400)}y`)
      expect([removed, added]).toEqual(['…a1a1a1a1a1a1a1a1x', '…a1a1a1a1a1a1a1a1y'])
    })

    it('counts the changes after the fifth', () => {
      const text = (word: string) =>
        numbers(8)
          .map((i) => `${'same '.repeat(20)}${word}${i}`)
          .join(' ')
      const [removed, added] = sidesOf(text('old'), text('new'))
      expect(removed).toMatch(/old5 .*… and 3 more changes$/)
      expect(added).toMatch(/new5 .*… and 3 more changes$/)
      expect(added).not.toContain('new6')
    })

    it('counts the rest of a change that is longer than a few lines', () => {
      const text = (word: string) =>
        `${'same '.repeat(30)}${numbers(200)
          .map((i) => `${word}${i}`)
          .join(' ')}${' same'.repeat(30)}`
      for (const side of sidesOf(text('old'), text('new'))) {
        expect(side).toMatch(/… \(\d+ more characters\)/)
        expect(side.length).toBeLessThan(600)
      }
    })

    it('has few lines for a text with very many changes, in time that grows with the text', async () => {
      const compare = (count: number) => {
        const text = (word: string) =>
          numbers(count)
            .map((i) => (i % 3 === 0 ? `${word}${i}` : `w${i}`))
            .join(' ')
        const [removed, added] = sidesOf(text('old'), text('new'))
        expect(removed).toMatch(/^w1 w2 old3 .*more characters\)/)
        expect(added).toMatch(/^w1 w2 new3 .*more characters\)/)
        expect(`${removed}${added}`.length).toBeLessThan(1200)
      }
      const ratio = await cpuRatio(
        () => compare(10_000),
        () => compare(1000),
      )
      expect(ratio).toBeLessThanOrEqual(tenfold)
    })

    it('shows no difference between equal lines', () => {
      const text = 'word '.repeat(30)
      expect(sidesOf(text, text)).toEqual([JSON.stringify(text), JSON.stringify(text)].map((one) => one.replaceAll('  ', ' ')))
    })

    it('compares a line with the most similar one where more were removed than added', () => {
      const long = (end: string) => `${'word '.repeat(30)}${end}`
      const lines = [
        { sign: '-' as const, text: long('1') },
        { sign: '-' as const, text: long('2') },
        { sign: '+' as const, text: long('2b') },
      ]
      const shownLines = linesOf({ path: 'x', before: 'a', after: 'b', lines })
      expect(shownLines.slice(-2)).toEqual(['-      …word word 2', '+      …word word 2b'])
      expect(shownLines.slice(1, -2).join('')).toMatch(/^- +word word.*word 1$/)
      const unlike = [{ sign: '-' as const, text: 'x'.repeat(100) }, ...lines.slice(2), { sign: '+' as const, text: 'new' }]
      expect(linesOf({ path: 'x', before: 'a', after: 'b', lines: unlike }).join('')).not.toContain('…')
    })
  })

  it('shows each word that was put into a long text', () => {
    const words = fc.array(fc.constantFrom('a', 'bb', '| --- |', '😀', 'latency', '\n'), { minLength: 100, maxLength: 400 })
    fc.assert(
      fc.property(words, fc.uniqueArray(fc.nat(99), { minLength: 1, maxLength: 5 }), (before, places) => {
        const after = before.flatMap((word, i) => (places.includes(i) ? [`new${i}`, word] : [word]))
        const text = linesOf({ path: 'x', before: before.join(' '), after: after.join(' ') })
          .filter((line) => line.startsWith('+'))
          .join('')
        expect(places.filter((i) => !text.includes(`new${i}`))).toEqual([])
      }),
    )
  })

  it('searches the changes of a text that repeats itself in time that grows with the text', async () => {
    const compare = (text: string) =>
      expect(linesOf({ path: 'x', before: `x${text}1`, after: `y${text.slice(1)}c${text}2` })).not.toEqual([])
    const [long, short] = ['ab'.repeat(40_000), 'ab'.repeat(4000)]
    const ratio = await cpuRatio(
      () => compare(long),
      () => compare(short),
    )
    expect(ratio).toBeLessThanOrEqual(tenfold)
  })

  it('never shows half a character', () => {
    const stays = linesOf({
      path: 'x',
      before: 'a',
      after: 'b',
      lines: [
        { sign: ' ', text: '😀'.repeat(60) },
        { sign: '+', text: 'b' },
      ],
    })
    expect(stays.join('')).not.toMatch(/\ufffd/)
    expect(stays[1]).toBe(`       ${'😀'.repeat(34)}…`)
    const text = (end: string) => `${'😀'.repeat(60)}${end}${'😀'.repeat(60)}`
    for (let i = 0; i < 4; i++) {
      const lines = linesOf({ path: 'x', before: `${'a'.repeat(i)}${text('b')}`, after: `${'a'.repeat(i)}${text('cc')}` })
      expect(lines.join('')).not.toMatch(/\ufffd/)
    }
  })

  it('leaves out the lines of long texts that are far from every difference', () => {
    const same = (...texts: readonly string[]) => texts.map((text) => ({ sign: ' ' as const, text }))
    const lines = [
      ...same('a', 'b', 'c', 'd', 'e'),
      { sign: '-' as const, text: 'f' },
      ...same('g', 'h', 'i', 'j', 'k', 'l', 'm'),
      { sign: '+' as const, text: 'n' },
      ...same('o', 'p', 'q', 'r', 's', 't'),
    ]
    expect(linesOf({ path: 'x', before: 'a', after: 'b', lines }).map((line) => line.replace(/^(.) {4,6}/, '$1'))).toEqual([
      '~x:',
      ' … 2 more lines',
      ' c',
      ' d',
      ' e',
      '-f',
      ' g',
      ' h',
      ' i',
      ' j',
      ' k',
      ' l',
      ' m',
      '+n',
      ' o',
      ' p',
      ' q',
      ' … 3 more lines',
    ])
  })

  it.each([
    ['plain words', 'a b', 'a b'],
    ['words of any language', 'Größe 漢', 'Größe 漢'],
    ['a text that is a number', '12', '"12"'],
    ['an empty text', '', '""'],
    ['a blank at the end', 'a ', '"a "'],
    ['a mark at the start', '- a', '"- a"'],
    ['a newline', 'a\nb', '"a\\nb"'],
    ['nothing', null, 'null'],
    ['a map', { a: [1] }, '{"a":[1]}'],
  ])('shows a value as in YAML: %s', (_, after, expected) => {
    expect(linesOf({ path: 'x', before: 'old', after })).toEqual([`~    x: old → ${expected}`])
  })

  it('shows no control characters and no endless text', () => {
    expect(linesOf({ path: 'a\u001bb', after: 'x\u202ey' })).toEqual(['+    a\\u001bb: x\\u202ey'])
    const lines = linesOf({ path: 'x', after: 'a'.repeat(500) })
    expect(lines.map((line) => line.replace(/^\+ +/, '')).join('')).toBe(`x:${'a'.repeat(400)}… (100 more characters)`)
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(79)
  })
})
