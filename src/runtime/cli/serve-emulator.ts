// Owns the emulator as a command: says where it listens and how to use it, and serves until it is told to stop.

import { type Diagnostic, inputDiagnostic } from '../../core/diagnostics.ts'
import { exitCodes, InputError, inputError } from '../../core/errors.ts'
import { didYouMean } from '../../core/names.ts'
import { quote } from '../../core/text.ts'
import { demo, startEmulator } from '../../emulator/index.ts'
import type { Signals } from '../cancellation.ts'

const dialects = ['neutral', 'clickhouse-cloud', 'hyperdx'] as const

export async function serveEmulator(
  options: { readonly port: string; readonly dialect: string },
  signals: Signals,
  write: (text: string) => void,
): Promise<number> {
  const dialect = dialects.find((name) => name === options.dialect)
  const port = /^\d{1,5}$/.test(options.port) ? Number(options.port) : Number.NaN
  const diagnostics: Diagnostic[] = []
  if (dialect === undefined)
    diagnostics.push(
      inputDiagnostic(
        'dialect',
        `"${quote(options.dialect, 40)}" is not accepted; accepted: ${dialects.join(', ')}${didYouMean(options.dialect, dialects)}`,
      ),
    )
  if (!(port <= 65_535)) diagnostics.push(inputDiagnostic('port', `"${quote(options.port, 40)}" is not accepted; accepted: 0 to 65535`))
  if (diagnostics.length > 0 || dialect === undefined) throw new InputError(diagnostics)
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

const describe = (url: string, dialect: (typeof dialects)[number]): string =>
  [
    `The API (${dialect}) is served on ${url} with demo data. Press Ctrl-C to stop it. In another terminal:`,
    '',
    ...(dialect === 'hyperdx' ? selfHostedCommands(url) : cloudCommands(url, dialect)),
    '',
    `Faults, the log of requests and the data: ${url}/_emulator`,
  ].join('\n')

const cloudCommands = (url: string, dialect: 'neutral' | 'clickhouse-cloud'): readonly string[] => [
  `export WATCHKEEPER_API_URL=${url}`,
  ...(dialect === 'neutral' ? [] : [`export WATCHKEEPER_PROFILE=${dialect}`]),
  `export WATCHKEEPER_API_KEY_ID=${demo.apiKeyId}`,
  `export WATCHKEEPER_API_KEY_SECRET=${demo.apiKeySecret}`,
  `export WATCHKEEPER_ORGANIZATION_ID=${demo.organizationId}`,
  `export WATCHKEEPER_SERVICE_ID=${demo.services.checkout}`,
  'npx watchkeeper doctor',
]

/** No profile speaks to this API yet. */
const selfHostedCommands = (url: string): readonly string[] => [
  `curl -H 'Authorization: Bearer ${demo.apiKeySecret}' ${url}/api/v2/dashboards`,
]
