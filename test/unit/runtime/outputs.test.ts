import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { outputLines } from '../../../src/runtime/action/outputs.ts'
import { toResultTexts } from '../../../src/runtime/publish.ts'
import { readOutputFile } from '../../support/runner-oracle.ts'

it('writes outputs that the runner reads as they are, also when a value contains delimiters', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('\n', '\n', '\r', 'ghadelimiter_0', 'ghadelimiter_1', 'ghadelimiter_2', 'status=pass', 'x<<EOF', '='),
  )
  const value = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('').replace(/\r+(?=\n|$)/g, ''))
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), (values) => {
      const outputs = values.map((text, i) => [`output-${i}`, text] as const)
      const file = outputs.map(([name, text]) => outputLines(name, text)).join('')
      expect([...readOutputFile(file)]).toEqual(outputs)
    }),
    { numRuns: 500 },
  )
})

it('ends a value that has the delimiter in a line of Windows only once', () => {
  expect(outputLines('result', 'ghadelimiter_0\r\nx')).toBe('result<<ghadelimiter_1\nghadelimiter_0\r\nx\nghadelimiter_1\n')
})

it('ends a value with many lines that look like delimiters only once', () => {
  const value = Array.from({ length: 50_000 }, (_, i) => `ghadelimiter_${i}`).join('\n')
  expect(readOutputFile(outputLines('result', value)).get('result')).toBe(value)
  expect(outputLines('result', value).endsWith('\nghadelimiter_50000\n')).toBe(true)
})

it('leaves the file of outputs as it was when not all of them can be written', () => {
  const directory = mkdtempSync(join(tmpdir(), 'watchkeeper-outputs-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'output')
  const before = outputLines('earlier', 'value')
  writeFileSync(file, before)
  const module = new URL('../../../src/runtime/action/outputs.ts', import.meta.url).href
  const program = `import { writeOutputs } from '${module}'; writeOutputs({ long: 'x'.repeat(100_000) }, '${file}')`
  // The system refuses a file of more than a few kilobytes, after a part was written.
  const ran = spawnSync('sh', ['-c', 'ulimit -f 8; exec "$0" --input-type=module -e "$1"', process.execPath, program], { encoding: 'utf8' })
  expect(ran.stderr).toContain('EFBIG')
  expect(readFileSync(file, 'utf8')).toBe(before)
})

it('a result that is too large for an output is written to its file in pieces, and is the same JSON', () => {
  for (const count of [0, 1, 1000, 1001, 20_000]) {
    const records = Array.from({ length: count }, (_, i) => ({ name: `service ${i} ü`, total: '0.25', none: undefined }))
    const document = { operation: 'usage-cost', status: 'pass', failureReason: '', none: undefined, records, of: { unit: 'CHC' } } as const
    const { forFile, forOutput } = toResultTexts(document)
    const pieces = [...forFile]
    expect(JSON.parse(pieces.join(''))).toEqual(JSON.parse(JSON.stringify(document)))
    expect(pieces.at(-1)).toMatch(/\n$/)
    const short = { truncated: true, operation: 'usage-cost', status: 'pass', failureReason: '' }
    expect(forOutput).toBe(JSON.stringify(count < 20_000 ? document : short))
    if (count === 20_000) expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(100_000)
  }
})

it('a result of up to 512 KiB, with the end of its line, is an output as it is', () => {
  const outputOf = (size: number) => toResultTexts({ operation: 'plan', status: 'error', failureReason: `ü${'x'.repeat(size)}` }).forOutput
  const room = 512 * 1024 - Buffer.byteLength(`${outputOf(0)}\n`)
  expect([room, room + 1].map((size) => outputOf(size).includes('truncated'))).toEqual([false, true])
})
