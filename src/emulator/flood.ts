import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { jsonType } from './answer.ts'
import type { Exchange } from './exchange.ts'

const start = '{"status":200,"requestId":"00000000-5eed-4000-8000-00000000c0de","result":"'

const mebibyte = Buffer.alloc(1024 * 1024, 0x78)

/** As fast as the client reads, and no faster. */
export async function floodEndlessly(exchange: Exchange): Promise<void> {
  const response = exchange.begin(200, { 'content-type': jsonType })
  response.write(start)
  while (!response.destroyed) {
    if (!response.write(mebibyte.subarray(0, 65_536))) await drained(response)
    await exchange.sleep(0)
  }
}

async function drained(response: ServerResponse): Promise<void> {
  const settled = new AbortController()
  try {
    await Promise.race(['drain', 'close'].map((event) => once(response, event, { signal: settled.signal })))
  } finally {
    // The listener of the event that did not come would stay.
    settled.abort()
  }
}

/** Gzip members one after the other are one gzip body: a thousandth of the size is all that is ever held. */
export async function sendGzipBomb(exchange: Exchange, mebibytes: number): Promise<void> {
  const response = exchange.begin(200, { 'content-type': jsonType, 'content-encoding': 'gzip' })
  const member = gzipSync(mebibyte)
  response.write(gzipSync(start))
  for (let i = 0; i < mebibytes && !response.destroyed; i++) {
    if (!response.write(member)) await drained(response)
  }
  response.end(gzipSync('"}'))
}
