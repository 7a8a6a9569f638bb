import type { ProfileName } from '../../../api/profiles.ts'
import { type Diagnostic, inputDiagnostic } from '../../../core/diagnostics.ts'
import { InputError } from '../../../core/errors.ts'
import { toCamel, toEnvironmentName } from '../../../core/names.ts'
import { quote } from '../../../core/text.ts'
import { metaOf } from '../../../documents/schema.ts'
import { parseApiUrl } from '../../../http/proxy.ts'
import { settingsSchema } from '../../../operation/inputs.ts'
import { operations } from '../../../operations.ts'
import type { Answer, Asker } from '../questions.ts'
import { isPlainBranch, remoteRepository } from '../repository.ts'
import type { Terminal } from '../terminal.ts'

export interface InitFlags {
  readonly organizationId?: string
  readonly serviceId?: string
  readonly apiUrl?: string
  readonly project?: string
  readonly branch?: string
}

export const settingNames = ['organization-id', 'service-id', 'api-url', 'project'] as const

type SettingName = (typeof settingNames)[number]

/** The settings that are known. The others are set later. */
export type InitSettings = Readonly<Partial<Record<SettingName, string>>>

interface SettingRule {
  readonly accepts: string
  readonly isValid: (text: string) => boolean
}

async function ruleOf(name: SettingName): Promise<SettingRule> {
  if (name === 'api-url') return { accepts: 'https://host[:port][/path]', isValid: (text) => !('problem' in parseApiUrl(text, true)) }
  const { organizationId, serviceId } = settingsSchema.shape
  const field =
    name === 'project'
      ? (await operations.plan()).input.shape.project
      : { 'organization-id': organizationId, 'service-id': serviceId }[name]
  return { accepts: metaOf(field).accepts ?? '', isValid: (text) => field.safeParse(text).success }
}

const questions: Readonly<Record<SettingName, string>> = {
  'organization-id': 'Id of the organization',
  'service-id': 'Id of the service',
  'api-url': 'Address of the API',
  project: 'Project (owner/repo), the owner of the alerts and dashboards',
}

// There is a flag for each setting.
const flagOf = (flags: InitFlags, name: SettingName): string | undefined => flags[toCamel(name) as Exclude<keyof InitFlags, 'branch'>]

export async function requireFlags(flags: InitFlags): Promise<void> {
  const wrong: Diagnostic[] = []
  for (const name of settingNames) {
    const value = flagOf(flags, name)
    if (value === undefined) continue
    const { accepts, isValid } = await ruleOf(name)
    if (!isValid(value)) wrong.push(inputDiagnostic(`--${name}`, `is not valid; accepted: ${accepts}`))
  }
  if (flags.branch !== undefined && !isPlainBranch(flags.branch))
    wrong.push(inputDiagnostic('--branch', 'is not valid; accepted: letters, digits, dots, dashes, underscores and slashes'))
  if (wrong.length > 0) throw new InputError(wrong)
}

/** Each setting from its flag, the environment, or an answer. Without an answer, a setting is left out. Undefined when the input ended. */
export async function readSettings(
  names: readonly SettingName[],
  flags: InitFlags,
  asker: Asker | undefined,
  { env, directory }: Terminal,
): Promise<InitSettings | undefined> {
  const settings: Partial<Record<SettingName, string>> = {}
  for (const name of names) {
    const { accepts, isValid } = await ruleOf(name)
    const question = questions[name]
    const known = name === 'project' ? await remoteRepository(directory) : env[toEnvironmentName(name)]?.trim()
    const fallback = known !== undefined && isValid(known) ? known : ''
    const prompt = fallback === '' ? `${question}, or Enter to set it later: ` : `${question} [${fallback}]: `
    const given = flagOf(flags, name)
    const read = (line: string): Answer<string> => {
      const text = line.trim()
      return text === '' || isValid(text)
        ? { answer: text || fallback }
        : { problem: `${quote(text, 60)} is not valid. Accepted: ${accepts}` }
    }
    const value = given ?? (asker === undefined ? fallback : await asker.ask(prompt, read))
    if (value === undefined) return undefined
    if (value !== '') settings[name] = value
  }
  return settings
}

export const keysOf: Readonly<Record<ProfileName, readonly string[]>> = {
  'clickhouse-cloud': ['api-key-id', 'api-key-secret'],
  hyperdx: ['api-key'],
}

/** The setting without which an operation cannot find the service. */
export const addressOf = { 'clickhouse-cloud': 'organization-id', hyperdx: 'api-url' } as const

/** Whether the variables have a key, and the place to use it is known. */
export const canConnect = (profile: ProfileName, settings: InitSettings, { env }: Terminal): boolean =>
  settings[addressOf[profile]] !== undefined && keysOf[profile].every((name) => Boolean(env[toEnvironmentName(name)]?.trim()))
