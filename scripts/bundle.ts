// `npm run bundle` builds dist/ from lib/; `--check` builds it elsewhere and compares byte for byte.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { minifyFiles } from './minify.ts'
import { noticesIn } from './notices.ts'
import { bundlerIn, layOut, standIn } from './staging.ts'

const root = new URL('..', import.meta.url).pathname
const check = process.argv.includes('--check')
const staging = mkdtempSync(join(tmpdir(), 'watchkeeper-bundle-'))
const fresh = join(staging, 'dist')

layOut(root, staging)
standIn(staging)
execFileSync(process.execPath, [bundlerIn(staging), 'build', 'lib/action.js', '-o', fresh, '--no-cache'], {
  cwd: staging,
  stdio: ['ignore', 'ignore', 'inherit'],
})

const filesIn = (directory: string): readonly string[] => readdirSync(directory).sort()

// The bundler would minify index.js alone, and without what goes beyond a file's white space and names.
minifyFiles(fresh)

writeFileSync(join(fresh, 'licenses.txt'), noticesIn(root))

const dist = join(root, 'dist')
if (check) {
  const differing = [...new Set([...filesIn(fresh), ...filesIn(dist)])].filter((name) => {
    const [a, b] = [fresh, dist].map((directory) => (filesIn(directory).includes(name) ? readFileSync(join(directory, name)) : undefined))
    return a === undefined || b === undefined || !a.equals(b)
  })
  console.log(differing.length === 0 ? 'dist/ is what the sources build' : `dist/ is not what the sources build: ${differing.join(', ')}`)
  if (differing.length > 0) process.exitCode = 1
} else {
  rmSync(dist, { recursive: true, force: true })
  cpSync(fresh, dist, { recursive: true })
  console.log(
    `written: ${filesIn(dist)
      .map((name) => `dist/${name}`)
      .join(', ')}`,
  )
}
rmSync(staging, { recursive: true })
