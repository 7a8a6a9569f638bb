// Owns turning the bytes of an answer into text: capped, inflated under the same cap, and valid UTF-8 or nothing.
import { quote } from '../kernel/text.ts'
import { ExchangeFailure } from './exchange-failure.ts'

/** Longest answer that is read, raw and inflated. The largest documented one is far below. */
export const largestAnswerBytes = 64 * 1024 * 1024

/** Inflates and decodes. Throws an ExchangeFailure for an unknown encoding, a bomb, broken gzip or bytes that are no UTF-8. */
export async function decodeBody(raw: Buffer, contentEncoding: string | undefined): Promise<string> {
  const bytes = await inflated(raw, contentEncoding?.trim().toLowerCase())
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ExchangeFailure('BAD_UTF8', `the answer is not UTF-8 at byte ${firstBadByte(bytes)}`, { bytes: bytes.length, cause })
  }
}

async function inflated(raw: Buffer, encoding: string | undefined): Promise<Buffer> {
  if (encoding === undefined || encoding === '' || encoding === 'identity') return raw
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new ExchangeFailure('BAD_ENCODING', `the answer came in the encoding "${quote(encoding, 40)}", which was not asked for`, {
      bytes: raw.length,
    })
  }
  try {
    return await inflate(raw)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(raw.length, cause)
    throw new ExchangeFailure('BAD_GZIP', `the answer's gzip is broken after ${raw.length} bytes`, { bytes: raw.length, cause })
  }
}

async function inflate(raw: Buffer): Promise<Buffer> {
  // Loaded here: short answers come as they are.
  const { gunzip } = await import('node:zlib')
  return new Promise((resolve, reject) => {
    gunzip(raw, { maxOutputLength: largestAnswerBytes }, (error, inflated) => (error ? reject(error) : resolve(inflated)))
  })
}

export const tooLarge = (bytes: number, cause: unknown): ExchangeFailure =>
  new ExchangeFailure('TOO_LARGE', `the answer is larger than the cap of ${largestAnswerBytes / 1024 / 1024} MiB`, { bytes, cause })

// Decoding leniently and encoding again keeps every byte up to the first bad one.
function firstBadByte(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'))
  const shorter = Math.min(bytes.length, again.length)
  for (let i = 0; i < shorter; i++) if (bytes[i] !== again[i]) return i
  return shorter
}
