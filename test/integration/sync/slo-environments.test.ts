// SLOs take defaults of their file and overrides of an environment, as other objects do.
import { expect, it } from 'vitest'
import { invokeText } from '../../support/invoke.ts'

const slo = { name: 'Payment', source: 'Traces', total: "ServiceName = 'payment'", good: "StatusCode != 'Error'" }

type Fields = Readonly<Record<string, unknown>>

const validate = (file: Fields, overrides?: Fields) =>
  invokeText({
    inputs: { operation: 'validate', files: 'a.json', expanded: 'true', ...(overrides !== undefined && { env: 'staging' }) },
    files: {
      'a.json': JSON.stringify(file),
      ...(overrides !== undefined && { 'environments/staging.json': JSON.stringify({ overrides }, undefined, 1) }),
    },
  })

it('takes missing fields of an SLO from the defaults of its file', async () => {
  const { document, reason } = await validate({ defaults: { slos: { objective: 99, window: '7d' } }, slos: { payment: slo } })
  expect([document.status, reason]).toEqual(['pass', ''])
  expect(JSON.stringify(document)).toContain('Objective: 99% good events in 7d')
})

it('reports a field that neither the SLO nor the defaults have', async () => {
  const { document } = await validate({ defaults: { slos: { objective: 99 } }, slos: { payment: slo } })
  expect(document.diagnostics).toMatchObject([{ severity: 'error', message: expect.stringMatching(/^slos\.payment\.window: /) }])
})

it('overrides fields of an SLO for an environment', async () => {
  const file = { slos: { payment: { ...slo, objective: 99.9, window: '30d' } } }
  const { document, reason } = await validate(file, { slos: { payment: { objective: 95 } } })
  expect([document.status, reason]).toEqual(['pass', ''])
  expect(JSON.stringify(document)).toContain('Objective: 95% good events in 30d')
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
