import { describe, expect, it } from 'vitest'
import { proxyHost, proxySecrets, readProxySettings } from '../../../../src/platform/http/proxy.ts'
import { forEachEntry } from '../../../support/corpus.ts'

describe('the proxy of the variables', () => {
  it('rejects a proxy address that cannot be read, and names its variable', () =>
    forEachEntry(['http://u:100%sure@proxy:3128', 'http://%:x@proxy:3128', 'proxy:3128', 'socks5://proxy:1080', 'http://'], (value) => {
      expect(readProxySettings({ HTTPS_PROXY: value }).diagnostics.map(({ location }) => location.file)).toEqual(['HTTPS_PROXY'])
    }))

  it('keeps its password secret even when it is refused', () => {
    expect(proxySecrets({ httpsProxy: 'http://u:100%sure_secret@proxy:3128' })).toContain('100%sure_secret')
    const pair = Buffer.from('u:p@ss-word').toString('base64')
    expect(proxySecrets({ httpProxy: 'http://u:p%40ss-word@proxy:3128' })).toEqual(['p%40ss-word', 'p@ss-word', pair])
  })

  it('S1: keeps a user without a password secret, because it may be a token', () => {
    const pair = Buffer.from('tok/en-0123456:').toString('base64')
    for (const url of ['http://tok%2Fen-0123456@proxy:3128', 'http://tok%2Fen-0123456:@proxy:3128'])
      expect(proxySecrets({ httpProxy: url })).toEqual(['tok%2Fen-0123456', 'tok/en-0123456', pair])
    expect(proxySecrets({ httpProxy: 'http://proxy:3128' })).toEqual([])
  })

  it('rejects a password that is too short to be redacted, also where it is long only in its URL', () => {
    for (const password of ['1234567', '%31%32%33'])
      expect(readProxySettings({ https_proxy: `http://user:${password}@proxy:3128` }).diagnostics).toMatchObject([
        { location: { file: 'https_proxy' }, message: 'has a password of fewer than 8 characters, which cannot be redacted' },
      ])
    expect(readProxySettings({ https_proxy: 'http://user:12345678@proxy:3128', http_proxy: 'http://user@proxy:3128' }).diagnostics).toEqual(
      [],
    )
  })

  it('chooses the proxy by origin and NO_PROXY', () =>
    forEachEntry(
      [
        ['https://api.example.com', undefined, 'proxy:3128'],
        ['https://api.example.com', 'other.example.com', 'proxy:3128'],
        ['https://api.example.com', 'api.example.com', undefined],
        ['https://api.example.com', '.example.com', undefined],
        ['https://api.example.com', 'x.org, example.com', undefined],
        ['https://api.example.com', '*.example.com', undefined],
        ['https://api.example.com', '*', undefined],
        ['https://api.example.com', 'example.com:443', undefined],
        ['https://api.example.com', 'example.com:8443', 'proxy:3128'],
        ['https://notexample.com', 'example.com', 'proxy:3128'],
      ],
      (origin, noProxy, host) => {
        expect(proxyHost(new URL(origin), { httpsProxy: 'http://u:p@proxy:3128', ...(noProxy && { noProxy }) })).toBe(host)
      },
    ))
})
