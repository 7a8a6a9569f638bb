// Owns what no file can say: a text that would be read as an expression. There is no way to write it otherwise.

export const isWritable = (text: string): boolean => !text.includes('${{')

/** The first text, anywhere in the value, that a file would be misunderstood by. */
export function findUnwritable(value: unknown): string | undefined {
  if (typeof value === 'string') return isWritable(value) ? undefined : value
  if (typeof value !== 'object' || value === null) return undefined
  for (const item of Object.values(value)) {
    const found = findUnwritable(item)
    if (found !== undefined) return found
  }
  return undefined
}
