import { expect, it } from 'vitest'
import { isApiDashboard } from '../../../../src/kinds/dashboard/dashboard-file.ts'

it('a request of the API may have tiles with series, the form before config', () => {
  const series = [{ type: 'time', sourceId: '65f5e4a35eedc0de00000005', aggFn: 'count', where: '', groupBy: [] }]
  const body = { name: 'Old', tiles: [{ name: 'Lines', x: 0, y: 0, w: 6, h: 4, series }] }
  expect(isApiDashboard(body)).toBe(true)
})
