import { BlockList, isIP } from 'node:net'

// The product refuses addresses that lead into the network of the server itself.

const reserved = new BlockList()
for (const [address, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  reserved.addSubnet(address, prefix, 'ipv4')
for (const [address, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['100::', 64],
  ['2001:db8::', 32],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  reserved.addSubnet(address, prefix, 'ipv6')

/** What is wrong with the address of a webhook, in the product's words. The text must be a URL. */
export function findUrlProblem(service: string, text: string): string | undefined {
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'Webhook URL must use HTTP or HTTPS'
  if (service === 'slack' && url.hostname.split('.').slice(-2).join('.') !== 'slack.com')
    return `Slack Webhook URL ${text} does not have hostname that ends in 'slack.com'`
  const host = url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '')
    .toLowerCase()
  const family = isIP(host)
  const isReserved = family === 0 ? /(?:^|\.)localhost$/.test(host) : reserved.check(host, family === 6 ? 'ipv6' : 'ipv4')
  return isReserved ? 'Webhook URL resolves to a private or reserved address.' : undefined
}
