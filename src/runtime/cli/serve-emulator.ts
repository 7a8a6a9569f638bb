import { type Dialect, demo, startEmulator } from '../../emulator/index.ts'
import type { ProfileName } from '../../platform/api/profiles.ts'
import { exitCodes, inputError } from '../../platform/core/errors.ts'
import type { Signals } from '../signals.ts'

interface EmulatorCommand {
  readonly port: number
  readonly dialect: Dialect
  /** `on`: that of the dialect. */
  readonly rateLimit: 'on' | 'off'
  readonly serverVersion?: string
}

/** Serves until a signal arrives. */
export async function serveEmulator(
  { rateLimit, ...options }: EmulatorCommand,
  signals: Signals,
  write: (text: string) => void,
): Promise<number> {
  const { port, dialect } = options
  const emulator = await startEmulator({ ...options, ...(rateLimit === 'off' && { rateLimit }) }).catch((thrown: unknown) => {
    if (thrown instanceof Error && 'code' in thrown && (thrown.code === 'EADDRINUSE' || thrown.code === 'EACCES'))
      throw inputError('port', `port ${port} is not available (${thrown.code}); choose another port, or 0 for any free port`)
    throw thrown
  })
  write(`${describeEmulator(emulator.url, dialect)}\n`)
  await new Promise<void>((resolve) => {
    signals.on('SIGINT', resolve)
    signals.on('SIGTERM', resolve)
  })
  await emulator.close()
  return exitCodes.ok
}

/** Settings that a job would set once. */
export const demoVariables = (url: string, profile: ProfileName): Readonly<Record<string, string>> => ({
  WATCHKEEPER_PROFILE: profile,
  WATCHKEEPER_API_URL: url,
  ...(profile === 'hyperdx'
    ? { WATCHKEEPER_API_KEY: demo.apiKeySecret }
    : {
        WATCHKEEPER_API_KEY_ID: demo.apiKeyId,
        WATCHKEEPER_API_KEY_SECRET: demo.apiKeySecret,
        WATCHKEEPER_ORGANIZATION_ID: demo.organizationId,
        WATCHKEEPER_SERVICE_ID: demo.services.checkout,
      }),
})

/** The demo does without: a plan asks more with them. */
const sqlVariables = (url: string): Readonly<Record<string, string>> => ({
  WATCHKEEPER_SQL_URL: url,
  WATCHKEEPER_SQL_KEY_ID: demo.apiKeyId,
  WATCHKEEPER_SQL_KEY_SECRET: demo.apiKeySecret,
})

const describeEmulator = (url: string, dialect: Dialect) =>
  [
    `The emulator serves the API (${dialect}) with demo data on ${url}. Press Ctrl-C to stop it. In another terminal, run:`,
    '',
    ...Object.entries({ ...demoVariables(url, dialect), ...(dialect === 'clickhouse-cloud' && sqlVariables(url)) }).map(
      ([name, value]) => `export ${name}=${value}`,
    ),
    'watchkeeper doctor',
    '',
    'Next, declare an alert: https://github.com/watchkeeper/watchkeeper/blob/main/docs/start.md#your-first-alert',
    `Faults, request log and data: ${url}/_emulator`,
  ].join('\n')
