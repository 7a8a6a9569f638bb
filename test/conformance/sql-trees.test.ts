import { expect, it } from 'vitest'
import { refuseSql } from '../../src/platform/core/sql.ts'
import { isRefusable, readRecordedTrees } from './sql-trees.ts'

// ClickHouse has read these texts. `npm run conformance` has nothing to do with them: sql-trees.ts asks for more.
const { trees } = readRecordedTrees()

it('W4: has nothing that the tree of the server shows as more than reading the database', async () => {
  const bad = trees.filter(([, contents]) => contents.split('; ').some(isRefusable))
  expect(bad.length).toBeGreaterThan(150)
  for (const [text, contents] of bad) expect.soft(await refuseSql(text), `${text}: ${contents}`).toBeDefined()
})

it('is accepted in most cases where the tree has nothing else', async () => {
  const good = trees.filter(([, contents]) => !contents.split('; ').some(isRefusable))
  const reasons = await Promise.all(good.map(([text]) => refuseSql(text)))
  // Most of the others call what is no function any more: a letter is missing, or a table function is where a column can be.
  expect(reasons.filter((reason) => reason === undefined).length).toBeGreaterThan(0.8 * good.length)
})
