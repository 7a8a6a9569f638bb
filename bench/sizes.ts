// Measures what a runner downloads for `uses:`, and what Node then reads.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { say, trusted } from '../src/core/line.ts'
import type { Benchmark } from './benchmark.ts'

const root = new URL('..', import.meta.url).pathname

export const sizes: Benchmark = async () => {
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
      ],
    },
  ]
}

const kilobytes = (bytes: number) => [trusted(`${Math.round(bytes / 1000)} kB`)]
