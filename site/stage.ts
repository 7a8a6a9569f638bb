// `npm run stage` writes the pages to content/, from which the generator builds the site, and to content/public/ what is served as it is.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeSite, type Repository, renderLlmsTxt, renderStaged, type Site } from './pages.ts'

const root = new URL('..', import.meta.url).pathname

function readRepository(): Repository {
  const paths = ['.', 'docs', 'docs/decisions'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => join(folder, name)),
  )
  return {
    documents: new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')])),
    kindOf(path) {
      const found = statSync(join(root, path), { throwIfNoEntry: false })
      return found && (found.isDirectory() ? 'directory' : 'file')
    },
  }
}

/** Throws an `Error` that lists what is wrong with the documents. */
export const readSite = (): Site => makeSite(readRepository())

function writeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function stage(directory: string): void {
  const site = readSite()
  rmSync(directory, { recursive: true, force: true })
  for (const page of site.pages) {
    writeFile(join(directory, page.path), renderStaged(page))
    writeFile(join(directory, 'public', page.path), page.markdown)
  }
  writeFile(join(directory, 'public/llms.txt'), renderLlmsTxt(site))
  // Markdown images are part of the build. HTML and the Markdown of the pages have them by address.
  for (const images of ['images', 'public/images']) cpSync(join(root, 'docs/images'), join(directory, images), { recursive: true })
}

if (import.meta.main) stage(new URL('content', import.meta.url).pathname)
