import { createHash } from 'node:crypto'

/** The first `length` hex digits of the text's SHA-256. */
export const digestOfText = (text: string, length: number): string => createHash('sha256').update(text).digest('hex').slice(0, length)
