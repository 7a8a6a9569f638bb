// `npm run bundle` builds dist/ from lib/; `--check` builds it elsewhere and compares byte for byte.
import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embeddedPackages } from './shipped.ts'
import { bundlerIn, layOut, standIn } from './staging.ts'

const root = new URL('..', import.meta.url).pathname
const check = process.argv.includes('--check')
const staging = mkdtempSync(join(tmpdir(), 'watchkeeper-bundle-'))
const fresh = join(staging, 'dist')

layOut(root, staging)
standIn(staging)
execFileSync(
  process.execPath,
  [bundlerIn(staging), 'build', 'lib/action.js', '-o', fresh, '--minify', '--no-cache', '--license', 'licenses.txt'],
  {
    cwd: staging,
    stdio: ['ignore', 'ignore', 'inherit'],
  },
)

// The bundler knows the licenses of what is imported, not of what stands inside a file of our own.
for (const name of embeddedPackages) {
  const read = (file: string): string => readFileSync(join(root, 'node_modules', name, file), 'utf8')
  const { license } = JSON.parse(read('package.json')) as { license: string }
  appendFileSync(join(fresh, 'licenses.txt'), `\n${name}\n${license}\n${read('LICENSE').trimEnd()}\n`)
}

const filesIn = (directory: string): readonly string[] => readdirSync(directory).sort()
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
