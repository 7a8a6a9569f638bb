import { minSecretLength, withoutEscapes } from '../core/secrets.ts'
import { isLoopback, tryDecode } from './proxy.ts'

/** Accepts https, and plain http for loopback addresses. */
export function isWebhookUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s\\/?#@]+(?:[/?][^\s\\#]*)?$/i.test(text) || !URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || isLoopback(hostname)
}

/** Path and query, as written and as sent. Another text is secret as a whole. */
export function webhookSecrets(text: string): readonly string[] {
  if (!/^https?:\/\/[^\s\\/?#@]+(?:[/?#]|$)/i.test(text) || !URL.canParse(text)) return [text]
  const { pathname, search } = new URL(text)
  const path = `${pathname}${search}`
  return [text.replace(/^https?:\/\/[^/?#]+/i, ''), path, tryDecode(path) ?? path]
}

/** In characters. A longer path is found by its beginning, so that no search takes long. */
const maxPathLength = 64

/**
 * Finds copies in any spelling: the host and what follows it, or `@` and the host of a URL with a user. Shows the host. Files, ids and
 * names can have a part of a path, so a path alone is not searched.
 */
export function createCopiedUrls() {
  const hosts = new Map<string, { readonly shown: string; readonly paths: Set<string> }>()
  const addPath = (name: string, shown: string, path: string) =>
    hosts.set(name, { shown, paths: (hosts.get(name)?.paths ?? new Set()).add(path) })
  return {
    add(urls: readonly string[]): void {
      for (const url of urls.flatMap((text) => [text, URL.parse(text)?.href ?? text])) {
        const [, user, shown = '', rest = ''] = /^https?:\/\/([^\s\\/?#]*@)?([^\s\\/?#]+)([^#]*)/i.exec(url) ?? []
        const name = respell(`${shown}/`).match(hostName)?.at(-1) ?? ''
        const path = respell(withoutEscapes(rest)).slice(0, maxPathLength)
        if (path.length >= minSecretLength) addPath(name, shown, path)
        // A copy that a message has cut is found, too. Other addresses can share a shorter beginning.
        for (let length = 12; length < path.length; length++) addPath(name, shown, `${path.slice(0, length)}…`)
        if (user !== undefined) addPath(`@${name}`, shown, '')
      }
    },
    search(text: string): string | undefined {
      const spelled = hosts.size === 0 ? '' : respell(text)
      for (const { 0: name, index } of spelled.matchAll(hostName)) {
        const { shown, paths } = hosts.get(name) ?? hosts.get(name.replace('@', '')) ?? {}
        const start = index + name.length
        for (let end = start; paths !== undefined && end <= start + maxPathLength + 1; end++)
          if (paths.has(spelled.slice(start, end))) return `${shown}***`
      }
      return undefined
    },
  }
}

const hostName = /@?[a-z\d][\w.-]*/g

/** Equal addresses differ in case, ports, repeated slashes, brackets of a host, and letters beyond ASCII but the sign of a cut. */
const respell = (text: string) =>
  text
    .toLowerCase()
    .replace(/:\d+(?=[\\/?])|[[\]]/g, '')
    .replace(/[\\/]+(?:\.[\\/]+)*/g, '/')
    .replace(/[^\s!-~…]+/g, '*')
