import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { stringify } from 'yaml'
import * as z from 'zod'
import { inputError } from '../../core/errors.ts'
import { didYouMean, toEnvironmentName, toKebab } from '../../core/names.ts'
import { quote } from '../../core/text.ts'
import type { Variables } from '../../core/variables.ts'
import { metaOf } from '../../documents/schema.ts'
import { parseDocument } from '../../documents/validate.ts'
import { parseApiUrl } from '../../http/proxy.ts'
import { type Settings, settingsSchema } from '../../operation/inputs.ts'
import { requireReplaceable } from '../workspace.ts'

/** The settings of a context. It has no key, and no allow-http, which is an option of each command. */
export const contextSettings = [
  'profile',
  'apiUrl',
  'observabilityPath',
  'organizationId',
  'serviceId',
  'apiKeyId',
] as const satisfies readonly (keyof Settings)[]

const { profile, apiUrl, observabilityPath, organizationId, serviceId, apiKeyId, readOnly } = settingsSchema.shape

const contextSchema = z
  .strictObject({
    profile,
    // Both are easily confused with a key, or hold one: no message quotes them.
    'api-url': apiUrl.meta({ ...metaOf(apiUrl), secret: true }),
    'observability-path': observabilityPath,
    'organization-id': organizationId,
    'service-id': serviceId,
    'api-key-id': apiKeyId,
    'read-only': readOnly.unwrap().optional(),
    'key-env': z
      .string()
      // Many keys are letters and digits. A name has capital letters only and, when it is long, more than one word.
      .regex(/^(?=.{1,20}$|.*_)[A-Z_][A-Z0-9_]{0,99}$/)
      .optional()
      .meta({
        description: 'Environment variable with the key.',
        accepts: 'the name of an environment variable, in capital letters, such as HYPERDX_KEY',
        secret: true,
      }),
    'key-command': z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .meta({ description: 'Shell command that prints the key.', accepts: 'a command such as pass show watchkeeper' }),
  })
  .superRefine((context, { addIssue }) => {
    if ((context['key-env'] === undefined) === (context['key-command'] === undefined))
      addIssue({ code: 'custom', path: ['key-env'], message: 'must be given, or key-command instead', params: { isComplete: true } })
    const address = context['api-url'] === undefined ? undefined : parseApiUrl(context['api-url'], true)
    if (address !== undefined && 'problem' in address)
      addIssue({ code: 'custom', path: ['api-url'], message: address.problem, params: { isComplete: true } })
    for (const field of ['organization-id', 'service-id', 'api-key-id'] as const)
      if (context.profile === 'hyperdx' && context[field] !== undefined)
        addIssue({ code: 'custom', path: [field], message: 'is not for profile hyperdx', params: { isComplete: true } })
  })

type NamedContext = z.output<typeof contextSchema>

const contextName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,63}$/)
  .meta({ accepts: 'letters, digits and . _ -, at most 64' })

const contextsSchema = z.record(contextName, contextSchema)

type Contexts = z.output<typeof contextsSchema>

/** In the user's configuration directory, outside of every repository. Throws an InputError where there is none. */
function contextsPath(env: Variables): string {
  const home = env.HOME ?? env.USERPROFILE
  // The XDG specification ignores relative paths. Here, one could lead into a repository, whose contexts could run commands.
  const base = [env.XDG_CONFIG_HOME, env.APPDATA, home && join(home, '.config')].find((path) => path && isAbsolute(path))
  if (!base) throw inputError('context', 'there is no directory for contexts: set HOME or XDG_CONFIG_HOME to an absolute path')
  return join(base, 'watchkeeper', 'contexts.yml')
}

/** All contexts by name; none where there is no file. */
export async function readContexts(env: Variables): Promise<Contexts> {
  const path = contextsPath(env)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return {}
    throw inputError('context', `${path} could not be read: ${thrown instanceof Error ? thrown.message : ''}`)
  }
  return text.trim() === '' ? {} : parseDocument(text, path, contextsSchema)
}

/** Adds a context. Throws an InputError when it is not valid, or the name is taken. */
export async function addContext(env: Variables, name: string, values: Readonly<Record<string, string | boolean>>): Promise<string> {
  const contexts = await readContexts(env)
  if (Object.hasOwn(contexts, name)) throw inputError('context', `"${quote(name, 64)}" exists; remove it first, or choose another name`)
  if (!contextName.safeParse(name).success)
    throw inputError('context', `"${quote(name, 80)}" is not a name; accepted: ${metaOf(contextName).accepts}`)
  if ((values['key-env'] === undefined) === (values['key-command'] === undefined))
    throw inputError('context', 'set either key-env or key-command, so that commands find the key')
  const context = parseDocument(stringify(values), 'context', contextSchema)
  return writeContexts(env, { ...contexts, [name]: context })
}

export async function removeContext(env: Variables, name: string): Promise<void> {
  const contexts = await readContexts(env)
  findContext(contexts, name)
  const { [name]: _, ...others } = contexts
  await writeContexts(env, others)
}

async function writeContexts(env: Variables, contexts: Contexts): Promise<string> {
  const path = contextsPath(env)
  const temporary = `${path}.${randomUUID()}`
  try {
    await requireReplaceable(path)
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(temporary, stringify(contexts), { mode: 0o600, flag: 'wx' })
    await rename(temporary, path)
  } catch (thrown) {
    await rm(temporary, { force: true })
    throw inputError('context', `${path} could not be written: ${thrown instanceof Error ? thrown.message : ''}`)
  }
  return path
}

function findContext(contexts: Contexts, name: string): NamedContext {
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined
  if (context !== undefined) return context
  const names = Object.keys(contexts)
  const known = names.length === 0 ? 'there are none; add one with watchkeeper context add' : `contexts: ${names.join(', ')}`
  throw inputError('context', `unknown context "${quote(name, 64)}"${didYouMean(name, names) || `; ${known}`}`)
}

/**
 * The environment of a command with `--context`. Variables for the settings of contexts do not count: a service of one context and the key
 * of another would be a mistake. Options still win.
 */
export async function withContext(env: Variables, name: string): Promise<Variables> {
  const context = findContext(await readContexts(env), name)
  const own = [...contextSettings, 'apiKeySecret', 'apiKey', 'allowHttp'].map((setting) => toEnvironmentName(toKebab(setting)))
  // The key has one place: its own variable.
  const replaced = new Set([...own, context['key-env']])
  const others = Object.entries(env).filter(([variable]) => !replaced.has(variable))
  const { 'key-env': _, 'key-command': __, 'read-only': isReadOnly, ...settings } = context
  const given = [
    ...Object.entries(settings).map(([setting, value]) => [toEnvironmentName(setting), value]),
    // A context does not switch it off either.
    ...(isReadOnly ? [[toEnvironmentName('read-only'), 'true']] : []),
  ]
  const keyVariable = toEnvironmentName(context.profile === 'hyperdx' ? 'api-key' : 'api-key-secret')
  return { ...Object.fromEntries([...others, ...given]), [keyVariable]: await readKey(name, context, env) }
}

async function readKey(name: string, context: NamedContext, env: Variables): Promise<string> {
  const { 'key-env': variable, 'key-command': command = '' } = context
  if (variable !== undefined) {
    const key = env[variable]?.trim()
    if (!key) throw inputError('context', `${name}: the environment variable ${variable} is not set; it should hold the key`)
    return key
  }
  const { output, code } = await runShell(command, env)
  // As `pass` does, a command may print the key first and notes after it.
  const [key = ''] = output.trim().split('\n', 1)
  if (code !== 0 || key === '') {
    const reason = code === 0 ? 'printed nothing' : `ended with exit code ${code}`
    throw inputError('context', `${name}: the command for the key ${reason}: ${quote(command, 200)}`)
  }
  return key
}

/** Its standard input and its errors are those of this process, so that it can ask for a passphrase. */
async function runShell(command: string, env: Variables): Promise<{ readonly output: string; readonly code: number | null }> {
  const child = spawn(command, { shell: true, env: { ...env }, stdio: ['inherit', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => {
    child.on('error', () => resolve(null))
    child.on('close', resolve)
  })
  const [output, code] = await Promise.all([readText(child.stdout), ended])
  return { output, code }
}
