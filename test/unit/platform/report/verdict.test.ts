import { expect, it } from 'vitest'
import { say, toPlainText } from '../../../../src/platform/core/line.ts'
import { type Reason, verdictOf } from '../../../../src/platform/report/report.ts'

const reason = (level: Reason['level'], text: string): Reason => ({ level, line: say`${text}` })

it('puts the failures of a verdict before its warnings, each in the order of the reasons', () => {
  const { status, sentence = [], reasons } = verdictOf([reason('warn', 'a'), reason('fail', 'b'), reason('warn', 'c'), reason('fail', 'd')])
  expect([status, ...[sentence, ...reasons].map(toPlainText)]).toEqual(['fail', 'b', 'd', 'a', 'c'])
})
