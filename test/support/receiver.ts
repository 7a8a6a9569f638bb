import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach } from 'vitest'

// A receiver of webhooks as a real HTTP server. It accepts everything, unless a test queues another answer.

interface ReceivedMessage {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: Record<string, unknown>
}

interface ReceiverAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Receiver {
  readonly host: string
  /** With a path as secret as that of a real webhook. */
  readonly url: string
  readonly messages: readonly ReceivedMessage[]
  /** The next answers; `hang` and `reset` give none. */
  answer(...answers: readonly (ReceiverAnswer | 'hang' | 'reset')[]): void
}

/** What must appear nowhere. */
export const webhookPath = '/services/T0RECEIVER/B0RECEIVER/qWeRtYuIoPaSdFgHjKlZxCvB'

export function useReceiver(): () => Receiver {
  const messages: ReceivedMessage[] = []
  let answers: (ReceiverAnswer | 'hang' | 'reset')[] = []
  const receiver = { host: '', url: '', messages, answer: (...next: typeof answers) => void answers.push(...next) }
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const { method = '', url: path = '', headers } = request
      messages.push({ method, path, headers, text, json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) })
      const answer = answers.shift() ?? { status: 200, body: 'ok' }
      if (answer === 'reset') response.socket?.destroy()
      else if (answer !== 'hang') response.writeHead(answer.status, { ...answer.headers }).end(answer.body)
    })
  })
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    receiver.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    receiver.url = `http://${receiver.host}${webhookPath}`
  })
  beforeEach(() => {
    messages.length = 0
    answers = []
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return () => receiver
}
