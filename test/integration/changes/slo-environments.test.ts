// SLOs take defaults of their file and overrides of an environment, as other objects do.
import { expect, it } from 'vitest'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const slo = { name: 'Payment', source: 'Traces', total: "ServiceName = 'payment'", good: "StatusCode != 'Error'" }

type Fields = Readonly<Record<string, unknown>>

const validate = (file: Fields, overrides?: Fields) =>
  invokeText({
    inputs: { operation: 'validate', files: 'a.json', ...(overrides !== undefined && { env: 'staging' }) },
    files: {
      'a.json': JSON.stringify(file),
      ...(overrides !== undefined && { 'environments/staging.json': JSON.stringify({ overrides }, undefined, 1) }),
    },
  })

/** The goal of the SLO, as check-slos sees it. */
async function goalOf(file: Fields, overrides?: Fields) {
  const { document } = await invokeText({
    inputs: { ...inputsFor(emulator(), 'hyperdx'), operation: 'check-slos', files: 'a.json', ...(overrides && { env: 'staging' }) },
    files: {
      'a.json': JSON.stringify(file),
      ...(overrides && { 'environments/staging.json': JSON.stringify({ overrides }) }),
    },
  })
  const [checked] = document.slos as readonly { readonly objective: number; readonly window: string }[]
  return [document.status, checked?.objective, checked?.window]
}

it('takes missing fields of an SLO from the defaults of its file', async () => {
  expect(await goalOf({ defaults: { slos: { objective: 99, window: '7d' } }, slos: { payment: slo } })).toEqual(['pass', 99, '7d'])
})

it('reports a field that neither the SLO nor the defaults have', async () => {
  const { document } = await validate({ defaults: { slos: { objective: 99 } }, slos: { payment: slo } })
  expect(document.diagnostics).toMatchObject([{ severity: 'error', message: expect.stringMatching(/^slos\.payment\.window: /) }])
})

it('overrides fields of an SLO for an environment', async () => {
  const file = { slos: { payment: { ...slo, objective: 99.9, window: '30d' } } }
  expect(await goalOf(file, { slos: { payment: { objective: 95 } } })).toEqual(['pass', 95, '30d'])
})

it('reports a wrong override at its place in the file of the environment, and one of an unknown SLO', async () => {
  const file = { slos: { payment: { ...slo, objective: 99.9, window: '30d' } } }
  const wrong = await validate(file, { slos: { payment: { objective: 100 } } })
  expect(wrong.document.diagnostics).toMatchObject([
    { location: { file: 'environments/staging.json', line: 5 }, message: expect.stringMatching(/^slos\.payment\.objective: /) },
  ])
  const unknown = await validate(file, { slos: { paymant: { objective: 95 } } })
  expect(unknown.document.diagnostics).toMatchObject([
    {
      location: { file: 'environments/staging.json' },
      message: 'overrides.slos: no file declares the key "paymant"; did you mean "payment"?',
    },
  ])
})
