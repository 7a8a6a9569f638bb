import { exitCodes, inputError } from '../../core/errors.ts'
import { demo, startEmulator } from '../../emulator/index.ts'
import type { Signals } from '../run.ts'

type Dialect = 'neutral' | 'clickhouse-cloud' | 'hyperdx'

/** Says where it listens and how to use it, and serves until it is stopped. */
export async function serveEmulator(
  { port, dialect }: { readonly port: number; readonly dialect: Dialect },
  signals: Signals,
  write: (text: string) => void,
): Promise<number> {
  const emulator = await startEmulator({ port, dialect }).catch((thrown: unknown) => {
    if (thrown instanceof Error && 'code' in thrown && (thrown.code === 'EADDRINUSE' || thrown.code === 'EACCES'))
      throw inputError('port', `${port} cannot be listened on (${thrown.code}): choose another, or 0 for any free one`)
    throw thrown
  })
  write(`${describe(emulator.url, dialect)}\n`)
  await new Promise<void>((resolve) => {
    signals.on('SIGINT', resolve)
    signals.on('SIGTERM', resolve)
  })
  await emulator.close()
  return exitCodes.ok
}

const describe = (url: string, dialect: Dialect): string =>
  [
    `The API (${dialect}) is served on ${url} with demo data. Press Ctrl-C to stop it. In another terminal:`,
    '',
    ...(dialect === 'hyperdx' ? selfHostedCommands(url) : cloudCommands(url, dialect)),
    '',
    `Faults, the log of requests and the data: ${url}/_emulator`,
  ].join('\n')

const cloudCommands = (url: string, dialect: Exclude<Dialect, 'hyperdx'>): readonly string[] => [
  `export WATCHKEEPER_API_URL=${url}`,
  ...(dialect === 'neutral' ? [] : [`export WATCHKEEPER_PROFILE=${dialect}`]),
  `export WATCHKEEPER_API_KEY_ID=${demo.apiKeyId}`,
  `export WATCHKEEPER_API_KEY_SECRET=${demo.apiKeySecret}`,
  `export WATCHKEEPER_ORGANIZATION_ID=${demo.organizationId}`,
  `export WATCHKEEPER_SERVICE_ID=${demo.services.checkout}`,
  'npx watchkeeper doctor',
]

/** There is no profile for this API. */
const selfHostedCommands = (url: string): readonly string[] => [
  `curl -H 'Authorization: Bearer ${demo.apiKeySecret}' ${url}/api/v2/dashboards`,
]
