import * as z from 'zod'
import { inputError } from '../core/errors.ts'
import { didYouMean } from '../core/names.ts'
import { quote, quoteLong } from '../core/text.ts'

const selectFields = ['name', 'key', 'kind', 'tag', 'state', 'project', 'type', 'managed', 'unmanaged', 'all'] as const

export type SelectField = (typeof selectFields)[number]

/** One condition: `name~checkout`. */
export interface Condition {
  readonly field: SelectField
  /** Alternatives. Empty for `managed`, `unmanaged` and `all`. */
  readonly values: readonly string[]
  readonly isPart?: true
}

/** A condition on an absent field does not hold. */
export interface Selectable {
  readonly name?: string | null | undefined
  readonly key?: string | undefined
  readonly kind?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly state?: string | null | undefined
  readonly type?: string | null | undefined
  readonly isManaged?: boolean | undefined
  readonly isOwnedBy?: ((project: string) => boolean) | undefined
}

const flags: readonly string[] = ['managed', 'unmanaged', 'all'] satisfies readonly SelectField[]

const isField = (text: string): text is SelectField => selectFields.some((field) => field === text)

export function parseCondition(text: string): Condition | undefined {
  if (flags.includes(text) && isField(text)) return { field: text, values: [] }
  const [, field = '', sign, value = ''] = /^([a-z]+)([=~])([^\r\n]+)$/.exec(text) ?? []
  if (!isField(field) || flags.includes(field) || value.trim() === '') return undefined
  if (sign === '~') return field === 'name' ? { field, values: [value], isPart: true } : undefined
  // Any other field has one value, the rest of the line.
  const values = ['key', 'kind', 'state'].includes(field) ? value.split(',').map((one) => one.trim()) : [value]
  return values.includes('') ? undefined : { field, values }
}

/** Without conditions, everything is selected. */
export const isSelected = (conditions: readonly Condition[] = [], item: Selectable): boolean =>
  conditions.every((condition) => isHeld(condition, item))

function isHeld({ field, values, isPart }: Condition, item: Selectable) {
  const isOne = (text: string | null | undefined): boolean => typeof text === 'string' && values.includes(text)
  switch (field) {
    case 'all':
      return true
    case 'managed':
      return item.isManaged === true
    case 'unmanaged':
      return item.isManaged === false
    case 'name':
      return isPart ? values.some((value) => (item.name ?? '').toLowerCase().includes(value.toLowerCase())) : isOne(item.name)
    case 'tag':
      return item.tags?.some(isOne) ?? false
    case 'project':
      return values.some((value) => item.isOwnedBy?.(value) ?? false)
    default:
      return isOne(item[field])
  }
}

/** Undefined without a condition on the field. */
export function valuesOf(conditions: readonly Condition[] = [], field: SelectField): readonly string[] | undefined {
  const values = conditions.filter((condition) => condition.field === field).map((condition) => condition.values)
  return values.length === 0 ? undefined : values.reduce((all, next) => all.filter((value) => next.includes(value)))
}

/** Where no item is selected: the first condition that none of them meets, with a near value. */
export function describeUnmet(items: readonly Selectable[], conditions: readonly Condition[] = []): string {
  const unmet = conditions.find((one) => !items.some((item) => isSelected([one], item)))
  if (unmet === undefined) return describeConditions(conditions)
  const { field, values } = unmet
  const known = items.flatMap((item) =>
    field === 'name' || field === 'key' ? (item[field] ?? []) : field === 'tag' ? (item.tags ?? []) : [],
  )
  return quoteLong(describeConditions([unmet])) + didYouMean(values[0] ?? '', new Set(known))
}

/** Throws an InputError for a key that none has, and where no item is left. */
export function selectDeclared<T extends Selectable>(
  items: readonly T[],
  conditions: readonly Condition[] | undefined,
  noun: string,
): readonly T[] {
  const keys = items.flatMap(({ key }) => key ?? [])
  const unknown = valuesOf(conditions, 'key')?.find((key) => !keys.includes(key))
  if (unknown !== undefined) throw inputError('select', `"${quote(unknown)}" is not an ${noun} in these files${didYouMean(unknown, keys)}`)
  const selected = items.filter((item) => isSelected(conditions, item))
  if (selected.length === 0 && items.length > 0)
    throw inputError('select', `matches no ${noun} in these files: none has ${describeUnmet(items, conditions)}`)
  return selected
}

/** `name~checkout, key=slow`, for messages. */
export const describeConditions = (conditions: readonly Condition[]): string =>
  conditions
    .map(({ field, values, isPart }) => (values.length === 0 ? field : `${field}${isPart ? '~' : '='}${values.join(',')}`))
    .join(', ')

export type Choices = Readonly<Partial<Record<SelectField, readonly string[]>>>

function conditionForms(field: SelectField, choices: Choices) {
  const own = choices[field]
  if (flags.includes(field)) return [field]
  if (own !== undefined) return [`${field}=${own.join('|')}`]
  return field === 'name' ? ['name=NAME', 'name~PART'] : [`${field}=${field.toUpperCase()}`]
}

interface SelectRules {
  readonly choices?: Choices | undefined
  /** What an operation is about without a condition, if it is not everything. */
  readonly without?: string
  readonly note?: string | undefined
}

export function selectInput(known: readonly SelectField[], { choices = {}, without, note }: SelectRules = {}) {
  const forms = known.flatMap((field) => conditionForms(field, choices)).join(', ')
  return z
    .array(
      z.string().transform((text, context): Condition => {
        const condition = parseCondition(text)
        const isKnown = condition !== undefined && known.includes(condition.field)
        const possible = condition && choices[condition.field]
        if (isKnown && (possible === undefined || condition.values.every((value) => possible.includes(value)))) return condition
        context.addIssue({ code: 'custom', message: `is not accepted; accepted: ${forms}`, params: { isComplete: true } })
        return z.NEVER
      }),
    )
    .min(1)
    .max(20)
    .meta({
      description: 'Limits the run to the objects or the usage that meet all conditions.',
      accepts: 'conditions that the operation knows, one per line, such as name~checkout',
      note: `Conditions: ${forms}${without === undefined ? '' : `; without any, ${without}`}.${note === undefined ? '' : ` ${note}`}`,
    })
}
