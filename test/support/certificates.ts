// Makes certificates for tests: signed by themselves, valid when and for whom a test says. No key is kept in the repository.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface Certificate {
  readonly cert: string
  readonly key: string
}

export interface CertificateOptions {
  /** Host names that it is for. */
  readonly names?: readonly string[]
  /** IPv4 addresses that it is for. */
  readonly addresses?: readonly string[]
  readonly from?: Date
  readonly to?: Date
}

const day = 86_400_000

export function createCertificate({ names = [], addresses = [], from, to }: CertificateOptions = {}): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name,
    sequence(time(from ?? new Date(Date.now() - day)), time(to ?? new Date(Date.now() + day))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(alternativeNames(names, addresses), isAuthority)),
  )
  return {
    cert: toPem(sequence(body, ecdsaWithSha256, bits(signed(body, privateKey)))),
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  }
}

const signed = (body: Buffer, key: KeyObject): Buffer => sign('sha256', body, key)

const toPem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()}\n-----END CERTIFICATE-----\n`

// What follows is DER: a tag, a length, a content.

function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  const length = content.length < 128 ? Buffer.from([content.length]) : Buffer.from([0x82, content.length >> 8, content.length & 0xff])
  return Buffer.concat([Buffer.from([tag]), length, content])
}

const sequence = (...contents: readonly Uint8Array[]): Buffer => tagged(0x30, ...contents)
const integer = (bytes: Uint8Array): Buffer => tagged(0x02, bytes)
const bits = (bytes: Uint8Array): Buffer => tagged(0x03, Buffer.from([0]), bytes)
const octets = (bytes: Uint8Array): Buffer => tagged(0x04, bytes)
const oid = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'))
const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text))
/** YYYYMMDDHHMMSSZ. */
const time = (date: Date): Buffer => tagged(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`))

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const name = sequence(tagged(0x31, sequence(oid('550403'), utf8('watchkeeper test'))))
const isAuthority = sequence(oid('551d13'), tagged(0x01, Buffer.from([0xff])), octets(sequence(tagged(0x01, Buffer.from([0xff])))))

const alternativeNames = (names: readonly string[], addresses: readonly string[]): Buffer =>
  sequence(
    oid('551d11'),
    octets(
      sequence(
        ...names.map((host) => tagged(0x82, Buffer.from(host))),
        ...addresses.map((address) => tagged(0x87, Buffer.from(address.split('.').map(Number)))),
      ),
    ),
  )
