// Measures what a runner downloads for `uses:`, and what Node then reads.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { executablePath } from '../scripts/build-executable.ts'
import { archiveName, currentPlatform, writeArchive } from '../scripts/release-files.ts'
import { say, trusted } from '../src/platform/core/line.ts'
import type { Benchmark } from './benchmark.ts'

const root = new URL('..', import.meta.url).pathname

export const sizes: Benchmark = async () => {
  const executable = await executableSizes()
  const archive = execFileSync('git', ['archive', '--format=tar', '--worktree-attributes', 'HEAD'], { cwd: root, maxBuffer: 2 ** 26 })
  const modules = readdirSync(`${root}dist`).filter((name) => name.endsWith('.js'))
  const sizeOf = (name: string): number => readFileSync(`${root}dist/${name}`).length
  return [
    {
      kind: 'table',
      title: 'Size',
      columns: [{ title: 'What' }, { title: 'Size', align: 'right' }, { title: 'Goal', align: 'right' }],
      rows: [
        [say`Archive that a runner downloads, gzipped`, kilobytes(gzipSync(archive).length), [trusted('600 kB')]],
        [say`dist/index.js, which every step reads`, kilobytes(sizeOf('index.js')), [trusted('–')]],
        [say`All of dist/*.js`, kilobytes(modules.reduce((bytes, name) => bytes + sizeOf(name), 0)), [trusted('–')]],
        [say`Archive of the single executable`, megabytes(executable.archive), [trusted('50 MB')]],
        [say`The single executable`, megabytes(executable.file), [trusted('–')]],
      ],
    },
  ]
}

async function executableSizes(): Promise<{ readonly file: number; readonly archive: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-bench-'))
  try {
    await writeArchive(directory)
    return { file: statSync(executablePath).size, archive: statSync(join(directory, archiveName(currentPlatform()))).size }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const megabytes = (bytes: number) => [trusted(`${Math.round(bytes / 1e6)} MB`)]
const kilobytes = (bytes: number) => [trusted(`${Math.round(bytes / 1000)} kB`)]
