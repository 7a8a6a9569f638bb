import type { Case } from './case.ts'
import { type RecordedAnswer, toComparable } from './recorded-answer.ts'
import type { Recording } from './run-cases.ts'
import type { Target } from './target.ts'

/** A field whose value is not the expected one. */
export interface Difference {
  readonly name: string
  /** `body.data.tiles.0.x`, of the second answer `after.1.body.data.name`. */
  readonly path: string
  readonly expected: unknown
  readonly actual: unknown
}

type Facts = Pick<Target, 'dialect' | 'isStrictGateway'>

/** What the server answers differently from the recorded answers of the product, case by case. */
export function findDifferences(cases: readonly Case[], recorded: Recording, actual: Recording, target: Facts): readonly Difference[] {
  return cases.flatMap((one) => {
    const answers = actual[one.name]
    if (answers === undefined) return []
    const expected = recorded[one.name]
    if (expected === undefined) return [{ name: one.name, path: '', expected: 'a recorded answer', actual: 'none' }]
    return findInCase(one, expected, answers, target)
  })
}

function findInCase(
  one: Case,
  expected: readonly RecordedAnswer[],
  actual: readonly RecordedAnswer[],
  target: Facts,
): readonly Difference[] {
  const { dialect, isStrictGateway } = target
  const isRefused = isStrictGateway && one.gateway !== undefined
  // Nothing that comes after a refusal can be compared with what came after a success.
  const count = isRefused ? 1 : Math.max(expected.length, actual.length)
  return Array.from({ length: count }).flatMap((_, index) => {
    const [wanted, got] = [expected[index], actual[index]]
    const prefix = index === 0 ? '' : `after.${index}.`
    const comparable = isRefused
      ? { status: one.gateway?.status, total: undefined, message: one.gateway?.message }
      : wanted && toComparable(wanted, 'hyperdx', dialect)
    return findFields(comparable, got && toComparable(got, dialect, dialect)).map(([path, a, b]) => ({
      name: one.name,
      path: `${prefix}${path}`,
      expected: a,
      actual: b,
    }))
  })
}

type Field = readonly [path: string, expected: unknown, actual: unknown]

function findFields(expected: unknown, actual: unknown, path: readonly string[] = []): readonly Field[] {
  if (Object.is(expected, actual)) return []
  if (!isContainer(expected) || !isContainer(actual) || Array.isArray(expected) !== Array.isArray(actual))
    return [[path.join('.'), expected, actual]]
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)])
  return [...keys].flatMap((key) => findFields(expected[key], actual[key], [...path, key]))
}

const isContainer = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

export function describeDifferences(differences: readonly Difference[]): string {
  const byName = Map.groupBy(differences, ({ name }) => name)
  return [...byName]
    .map(([name, fields]) =>
      [name, ...fields.map(({ path, expected, actual }) => `  ${path}: ${show(expected)} / ${show(actual)}`)].join('\n'),
    )
    .join('\n')
}

const show = (value: unknown): string => (value === undefined ? '–' : JSON.stringify(value))
