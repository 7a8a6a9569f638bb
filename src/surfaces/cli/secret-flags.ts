// Owns secrets in the arguments as they were typed, before anything is known of the command: no complaint may repeat one.

import { toKebab } from '../../kernel/names.ts'
import { metaOf } from '../../provision/field-facts.ts'
import { settingFields } from '../setting-sources.ts'

const secretFlags = Object.entries(settingFields).flatMap(([name, field]) => (metaOf(field).secret ? [`--${toKebab(name)}`] : []))

/** `--flag value` and `--flag=value`, wherever they stand. */
export const secretsIn = (args: readonly string[]): readonly string[] =>
  args.flatMap((arg, i) => {
    const flag = secretFlags.find((one) => arg === one || arg.startsWith(`${one}=`))
    const value = flag === undefined ? undefined : arg === flag ? args[i + 1] : arg.slice(flag.length + 1)
    return value?.trim() || []
  })

/** The text with flags by their names alone: one that nobody knows may be a secret's that is misspelt. */
export const withoutValues = (text: string, args: readonly string[]): string =>
  args.reduce((safe, arg) => {
    const [, flag] = /^(--?[^=\s]+)=/.exec(arg) ?? []
    return flag === undefined ? safe : safe.replaceAll(arg, flag)
  }, text)
