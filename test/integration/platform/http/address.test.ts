import { describe, expect, it } from 'vitest'
import { parseApiUrl } from '../../../../src/platform/http/proxy.ts'
import { forEachEntry } from '../../../support/corpus.ts'

describe('parseApiUrl', () => {
  it('accepts an https address, and http for loopback addresses', () =>
    forEachEntry(
      [
        ['https://api.example.com', 'https://api.example.com/'],
        ['https://api.example.com/', 'https://api.example.com/'],
        ['https://api.example.com:8443/gateway/', 'https://api.example.com:8443/gateway'],
        ['http://localhost:8080', 'http://localhost:8080/'],
        ['http://127.0.0.1:1', 'http://127.0.0.1:1/'],
        ['http://[::1]:1', 'http://[::1]:1/'],
        ['http://0x7f.1', 'http://127.0.0.1/'],
        ['http://2130706433', 'http://127.0.0.1/'],
        ['HTTPS://API.example.com', 'https://api.example.com/'],
      ],
      (text, href) => {
        expect(parseApiUrl(text, false)).toEqual({ url: new URL(href), isUnencrypted: false })
      },
    ))

  it('accepts http for any host with allow-http, and nothing else more', () => {
    const text = 'http://hyperdx.observability.svc:8000'
    expect(parseApiUrl(text, false)).toEqual({
      problem: expect.stringContaining('set WATCHKEEPER_ALLOW_HTTP: true if you trust the network'),
    })
    expect(parseApiUrl(text)).toEqual({ problem: 'would send the key unencrypted; use https' })
    expect(parseApiUrl(text, true)).toEqual({ url: new URL(text), isUnencrypted: true })
    expect(parseApiUrl('http://user:pass@hyperdx:8000', true)).toHaveProperty('problem')
    expect(parseApiUrl('ftp://hyperdx:8000', true)).toHaveProperty('problem')
  })

  it('takes plain http through a proxy on another machine for unencrypted, also to a loopback address', () => {
    const through = (httpProxy: string, noProxy = '') => parseApiUrl('http://127.0.0.1:8000', false, { httpProxy, noProxy })
    expect(through('http://192.0.2.2:3128')).toHaveProperty('problem')
    expect(through('http://127.0.0.1:3128')).toMatchObject({ isUnencrypted: false })
    expect(through('http://192.0.2.2:3128', '127.0.0.1')).toMatchObject({ isUnencrypted: false })
    expect(parseApiUrl('https://127.0.0.1', false, { httpsProxy: 'http://192.0.2.2:3128' })).toMatchObject({ isUnencrypted: false })
  })

  it('S3: rejects every other address', () =>
    forEachEntry(
      [
        'http://api.example.com',
        'http://127.0.0.1.example.com',
        'http://localhost.example.com',
        'http://127.1.evil',
        'http://[::2]',
        'https://h@evil',
        'https://user:pass@h',
        'https://h\\@evil',
        'https://h?x=1',
        'https://h#x',
        'https://h:99999',
        'https://h\n.evil',
        'https://h\t',
        'https://h\t.evil',
        'https://',
        'https://a b',
        'http://169.254.169.254/',
        'javascript:alert(1)',
        'data:text/plain,x',
        ' https://h',
        'file:///etc/passwd',
        'ftp://h',
        '//h',
        'api.example.com',
        '',
      ],
      (text) => {
        expect(parseApiUrl(text, false)).toHaveProperty('problem')
      },
    ))
})
