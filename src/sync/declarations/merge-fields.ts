/** Alternatives: an object has the fields of one side. */
const alternatives = [
  [['channel'], ['channels']],
  [['dashboard', 'tile'], ['savedSearch']],
  [['tile'], ['query']],
  [['savedSearch'], ['query']],
  [['tiles', 'containers'], ['rows']],
  [['sourceId'], ['source']],
] as const

/** A field of the object removes the defaults that it is an alternative to. */
export function withDefaults(spelled: object, defaults: object): object {
  const displaced = alternatives.flatMap(([one, other]) => [
    ...(one.some((field) => Object.hasOwn(spelled, field)) ? other : []),
    ...(other.some((field) => Object.hasOwn(spelled, field)) ? one : []),
  ])
  const left = Object.entries(defaults).filter(([field]) => !displaced.some((name) => name === field))
  return { ...Object.fromEntries(left), ...spelled }
}

export const withAlternatives = (fields: readonly string[]): readonly string[] => [
  ...new Set([...fields, ...alternatives.filter((sides) => sides.flat().some((field) => fields.includes(field))).flat(2)]),
]
