import { expect, it } from 'vitest'
import { spellInput, spellVariable, withFlags } from '../../../../src/platform/core/input-spelling.ts'

const both = <T>(spell: () => T): readonly [T, T] => [spell(), withFlags(spell)]

it('an input is spelled as in a workflow, or as an option of the command line', () => {
  expect(both(() => spellInput('prune'))).toEqual(['prune', '--prune'])
  expect(both(() => spellInput('prune', 'forget'))).toEqual(['prune: forget', '--prune forget'])
  expect(both(() => spellInput('allow-empty', 'true'))).toEqual(['allow-empty: true', '--allow-empty'])
  expect(both(() => spellInput('webhook', 'On call=NAME'))).toEqual(['webhook: On call=NAME', "--webhook 'On call=NAME'"])
  expect(both(() => spellVariable('wake-service', 'true'))).toEqual(['WATCHKEEPER_WAKE_SERVICE: true', '--wake-service'])
})
