// What a plan changes nothing about, and apply takes over.
import { describe, expect, it } from 'vitest'
import { inputsFor, secrets, useEmulator } from '../../support/emulator.ts'
import { useGitHub } from '../../support/github-server.ts'
import { runTold } from '../../support/told.ts'

const emulator = useEmulator()
const github = useGitHub()

const run = (inputs: Readonly<Record<string, string>>, files: Readonly<Record<string, string>>) =>
  runTold(github(), { inputs: { ...inputsFor(emulator()), ...inputs }, secrets, files })

describe('a plan that only takes over what somebody made by hand', () => {
  const board = { name: 'By hand', tiles: [{ name: 'T', x: 0, y: 0, w: 6, h: 4, config: { displayType: 'markdown', markdown: 'Hi' } }] }
  const plan = (dashboard: object) =>
    run(
      { operation: 'plan', project: 'shop/main', files: 'a.json', comment: 'changes' },
      { 'a.json': JSON.stringify({ dashboards: { hand: { ...board, ...dashboard } } }) },
    )

  it('is no change, and still news to whoever reviews it', async () => {
    const made = await run({ operation: 'create-dashboard', 'dashboard-file': 'b.json' }, { 'b.json': JSON.stringify(board) })
    expect(made.exitCode).toBe(0)
    const planned = await plan({ adopt: true })
    expect(planned.outputs.get('changed')).toBe('false')
    expect(github().store.comments).toHaveLength(1)
    expect(github().store.comments[0]?.body).toContain('No changes: the service is as the files say, and apply takes over 1 object')
  })
})
