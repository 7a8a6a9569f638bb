import { type Condition, parseCondition } from '../../src/platform/operation/select.ts'

/** Parsed conditions of `select`. */
export const conditions = (...texts: readonly string[]): Condition[] =>
  texts.map((text) => {
    const condition = parseCondition(text)
    if (condition === undefined) throw new Error(`not a condition: ${text}`)
    return condition
  })
