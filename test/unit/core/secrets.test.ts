import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json.ts'
import { createRedact, formsOf, redactDeep, shortestSecret } from '../../../src/core/secrets.ts'
import { clip } from '../../../src/core/text.ts'
import { cpuMsOf } from '../../support/clocks.ts'
import { findSecret, formsOfSecret } from '../../support/secret-scanner.ts'

const secret = `p%a"s\\s<&>é-0123456789`

describe('createRedact', () => {
  const redact = createRedact([secret])

  it.each([
    ['as it is', secret],
    ['in JSON', JSON.stringify({ secret })],
    ['in a url', `https://x/?q=${encodeURIComponent(secret)}`],
    ['in a form', new URLSearchParams({ secret }).toString()],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in hex', Buffer.from(secret).toString('hex')],
  ])('removes a secret %s', (_, text) => {
    const safe = redact(text)
    expect(safe).toContain('***')
    for (const form of formsOf(secret)) expect(safe).not.toContain(form)
  })

  it.each([5, 8, 15, secret.length])('removes the first %i characters of a secret where a text was cut', (length) => {
    const text = `${'x'.repeat(20)}${secret}`
    expect(redact(clip(text, 20 + length))).not.toContain(secret.slice(0, 5))
  })

  it('removes no more than that where a text was cut', () => {
    expect(redact(clip(`before ${secret}`, 15))).toBe(`before ***… (${secret.length - 8} more characters)`)
    expect(redact(clip(`${'x'.repeat(20)}${secret}`, 23))).toBe(
      `${'x'.repeat(20)}${secret.slice(0, 3)}… (${secret.length - 3} more characters)`,
    )
    expect(redact(`${clip(`a${secret}`, 9)} ${clip('harmless', 4)} b`)).toBe(
      `a***… (${secret.length - 8} more characters) harm… (4 more characters) b`,
    )
  })

  it('hides nothing for a secret that is shorter than a secret may be', () => {
    expect(createRedact(['abc'])('abc ABC 616263 and more')).toBe('abc ABC 616263 and more')
  })

  it.each([
    ['the beginning', secret.slice(0, 12), '***'],
    ['the end', secret.slice(-14), '***'],
    ['the middle, whole', `in ${secret.slice(3, 18)} here`, 'in *** here'],
    ['two halves', `${secret.slice(0, 12)} ${secret.slice(10)}`, '*** ***'],
    ['a long piece twice', `${secret.slice(0, 15)}${secret.slice(0, 15)}`, '******'],
    ['a piece in capitals', 'P%A"S\\S<&>É-012', '***'],
    ['a piece of its hex', Buffer.from(secret).toString('hex').slice(5, 30), '***'],
  ])('removes %s', (_, text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  it.each([secret.slice(0, 11), `${secret.slice(0, 8)} ${secret.slice(8, 16)}`])(
    'leaves %s: shorter pieces stand in innocent text',
    (text) => {
      expect(redact(text)).toBe(text)
    },
  )

  it('removes every piece, wherever it begins and whatever surrounds it', () => {
    fc.assert(
      fc.property(
        fc.nat(secret.length - 12),
        fc.integer({ min: 12, max: secret.length }),
        fc.string(),
        fc.string(),
        (from, length, a, b) => {
          const safe = redact(`${a}${secret.slice(from, from + length)}${b}`)
          expect(findSecret(safe, [secret])).toBeUndefined()
        },
      ),
    )
  })

  it('is not much slower for a text that nearly matches everywhere', () => {
    const many = createRedact(['a'.repeat(40)])
    const cpuMsFor = (text: string): number => Math.min(...[1, 2, 3].map(() => cpuMsOf(() => expect(many(text)).toBe(text))))
    const almostSecret = `${'a'.repeat(11)}b`.repeat(100_000)
    const harmless = 'x'.repeat(almostSecret.length)
    expect(cpuMsFor(almostSecret)).toBeLessThan(50 * Math.max(1, cpuMsFor(harmless)))
  })

  it('removes a secret in lower case, as in host names', () => {
    expect(createRedact(['Canary-SECRET-1'])('a redirect to https://canary-secret-1.example')).toBe('a redirect to https://***.example')
  })

  it('removes every secret, in every encoding and whatever surrounds it', () => {
    const secrets = fc
      .string({ unit: 'binary', minLength: 12, maxLength: 60 })
      .filter((text) => text.isWellFormed() && text.trim().length >= 12)
    fc.assert(
      fc.property(secrets, fc.string(), fc.string(), (given, before, after) => {
        const hide = createRedact([given])
        for (const form of formsOfSecret(given)) {
          if (form.length < shortestSecret) continue
          const safe = hide(`${before}${form}${after}`)
          expect(findSecret(safe.replaceAll('***', '\n'), [given])).toBe(findSecret(`${before}\n${after}`, [given]))
        }
      }),
      { numRuns: 20 },
    )
  })

  it('changes nothing else', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!formsOf(secret).some((form) => text.includes(form)))
        expect(redact(text)).toBe(text)
      }),
    )
  })
})

describe('redactDeep', () => {
  it('reaches keys and values at any depth', () => {
    const value = { a: [{ [secret]: `x ${secret} y` }], b: 1, c: null }
    expect(redactDeep(value, createRedact([secret]))).toEqual({ a: [{ '***': 'x *** y' }], b: 1, c: null })
  })

  it('keeps numbers that only exist as text', () => {
    const text = '{"a":12345678901234567890}'
    expect(JSON.stringify(redactDeep(parseJson(text), createRedact([secret])))).toBe(text)
  })

  it.each([
    ['a secret in another encoding', { a: Buffer.from(secret).toString('hex') }, { a: '***' }],
    ['a text that was cut inside a secret', { a: [clip(secret, 6)] }, { a: [clip(secret, 6).replace(secret.slice(0, 6), '***')] }],
  ])('hides %s', (_, value, expected) => {
    expect(redactDeep(value, createRedact([secret]))).toEqual(expected)
  })

  it('hides a secret with escapes, which the text of the JSON escapes again', () => {
    const accented = 'aéb2éc3éd4éf5'
    expect(redactDeep({ x: accented.replaceAll('é', '\\u00e9') }, createRedact([accented]))).toEqual({ x: '***' })
  })

  it('returns a value without secrets as it is', () => {
    const value = { a: [clip('harmless', 2)], b: null }
    expect(redactDeep(value, createRedact([secret]))).toBe(value)
  })
})
