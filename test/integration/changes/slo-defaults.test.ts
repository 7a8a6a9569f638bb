// SLOs take defaults of their file, as other objects do.
import { expect, it } from 'vitest'
import { inputsFor, useEmulator } from '../../support/emulator.ts'
import { invokeText } from '../../support/invoke.ts'

const emulator = useEmulator({ dialect: 'hyperdx', rateLimit: 'off' })

const slo = { name: 'Payment', source: 'Traces', total: "ServiceName = 'payment'", good: "StatusCode != 'Error'" }

type Fields = Readonly<Record<string, unknown>>

const validate = (file: Fields) =>
  invokeText({ inputs: { operation: 'validate', files: 'a.json' }, files: { 'a.json': JSON.stringify(file) } })

/** The goal of the SLO, as check-slos sees it. */
async function goalOf(file: Fields) {
  const { document } = await invokeText({
    inputs: { ...inputsFor(emulator(), 'hyperdx'), operation: 'check-slos', files: 'a.json' },
    files: { 'a.json': JSON.stringify(file) },
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
