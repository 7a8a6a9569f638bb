import { createInterface } from 'node:readline/promises'

/** Asks questions one after the other. All of them read the same input, so that a line that comes early is not lost. */
export interface Asker {
  /** Asks until the answer is valid. Undefined when the input has ended, or a signal stopped the run. */
  ask<T>(question: string, read: (line: string) => Reply<T>): Promise<T | undefined>
  close(): void
}

export type Reply<T> = { readonly answer: T } | { readonly problem: string }

export function openAsker(input: NodeJS.ReadableStream, write: (text: string) => void, stop?: AbortSignal): Asker {
  const reader = createInterface({ input, ...(stop !== undefined && { signal: stop }) })
  const lines = reader[Symbol.asyncIterator]()
  return {
    async ask(question, read) {
      for (;;) {
        write(question)
        const { value, done } = await lines.next()
        if (done === true) return undefined
        const result = read(value)
        if ('answer' in result) return result.answer
        write(`${result.problem}\n`)
      }
    },
    close: () => reader.close(),
  }
}

/** For a question that ends with `[y/N]`. */
export const isYes = (answer: string): boolean => /^\s*y(?:es)?\s*$/i.test(answer)
