import { createHash, randomBytes, scryptSync } from 'node:crypto'

export const digestOfText = (text: string, length: number): string => createHash('sha256').update(text).digest('hex').slice(0, length)

/** scrypt takes about 30 ms: too long to try many guesses. */
export const slowDigestOfText = (text: string, salt: string, length: number): string =>
  scryptSync(text, salt, Math.ceil(length / 2))
    .toString('hex')
    .slice(0, length)

/** 16 hex digits that no other object has. */
export const createSalt = (): string => randomBytes(8).toString('hex')
