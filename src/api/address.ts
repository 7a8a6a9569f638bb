// Owns which base urls are trusted with the key: https, or plain http to this very machine.

// Before the URL parser, which quietly drops tabs and newlines and reads `\` as `/`.
const grammar = /^https?:\/\/[^\s\\?#@]+$/i

/** The base url without a trailing slash, or what is wrong with it. */
export function parseApiUrl(text: string): { readonly url: URL } | { readonly problem: string } {
  if (!grammar.test(text) || !URL.canParse(text)) {
    return { problem: 'is no base url; accepted: https://host[:port][/path], without user, query or fragment' }
  }
  const url = new URL(text)
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return { problem: 'would send the key unencrypted; use https (plain http is accepted for loopback addresses alone)' }
  }
  url.pathname = url.pathname.replace(/\/+$/, '')
  return { url }
}

// The URL parser has already turned 0x7f.1 and 2130706433 into 127.0.0.1.
const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
