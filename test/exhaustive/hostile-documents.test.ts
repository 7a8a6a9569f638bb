import { expect, it } from 'vitest'
import { readDocument } from '../../src/documents/document.ts'
import { cpuMsOf } from '../support/clocks.ts'
import { forEachEntry, hostileYaml, maxMs } from '../support/corpus.ts'
import { invokeText } from '../support/invoke.ts'

const messagesOf = (text: string): readonly string[] => {
  const reading = readDocument(text, 'f.yml')
  return 'diagnostics' in reading ? reading.diagnostics.map(({ message }) => message) : []
}

it('reading a hostile document gives a document or a few diagnostics, in little time', () =>
  forEachEntry(hostileYaml, ({ text, message }) => {
    let messages: readonly string[] = []
    const ms = cpuMsOf(() => {
      messages = messagesOf(text)
    })
    expect(ms).toBeLessThan(maxMs)
    if (message === undefined) expect(messages).toEqual([])
    else expect(messages[0]).toMatch(message)
    expect(messages.length).toBeLessThanOrEqual(20)
  }))

it('reading a hostile document does not change the depth of stack traces', () => {
  const before = Error.stackTraceLimit
  for (const { text } of hostileYaml.filter(({ text }) => text.length < 10_000)) messagesOf(text)
  expect(Error.stackTraceLimit).toBe(before)
})

it('validate reports a hostile document as a diagnostic', () =>
  forEachEntry(
    hostileYaml.filter(({ text }) => text.length < 100_000),
    async ({ text, message: expected }) => {
      const { document } = await invokeText({
        inputs: { operation: 'validate', profile: 'clickhouse-cloud' },
        files: { 'observability/a.yml': text },
      })
      const syntax = (document.diagnostics as { rule: string; message: string }[]).filter(({ rule }) => rule === 'syntax')
      expect(document.error).toBeUndefined()
      if (expected === undefined) expect(syntax).toEqual([])
      else expect(syntax[0]?.message).toMatch(expected)
    },
  ))
