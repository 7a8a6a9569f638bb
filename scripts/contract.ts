// Compares the OpenAPI documents of the vendor with what this project knows of the API: paths, fields of requests, and words.
// usage: node scripts/contract.ts cloud=FILE hyperdx=FILE [--accept]
//
// Prints, in Markdown, what differs otherwise than scripts/contract-known.json says. --accept writes that file.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { type Shape, shapes } from '../src/emulator/gateways/documented-fields.ts'
import { declaredDashboard } from '../src/kinds/dashboard/dashboard.ts'
import { wireSchema } from '../src/kinds/derive.ts'
import type { Kind } from '../src/kinds/kind.ts'
import { kindNames, sections } from '../src/kinds/kind-names.ts'
import { createKinds } from '../src/kinds/kinds.ts'
import { type ProfileName, profileNamed } from '../src/platform/api/profiles.ts'
import { toKebab } from '../src/platform/core/names.ts'
import { quote } from '../src/platform/core/text.ts'

type Json = Readonly<Record<string, unknown>>

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const mapOf = (value: unknown): Json => (isMap(value) ? value : {})

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const servers: Readonly<Record<string, { readonly profile: ProfileName; readonly prefix: RegExp }>> = {
  cloud: { profile: 'clickhouse-cloud', prefix: /^\/v1\/organizations\/\{\w+\}\/services\/\{\w+\}\/clickstack\// },
  hyperdx: { profile: 'hyperdx', prefix: /^\/api\/v2\// },
}

/** A schema with the document that its references are in. */
interface Place {
  readonly schema: Json
  readonly document: Json
}

function resolve({ schema, document }: Place): Place {
  if (typeof schema.$ref !== 'string') return { schema, document }
  const found = schema.$ref
    .split('/')
    .slice(1)
    .reduce((inner: unknown, key) => mapOf(inner)[key], document)
  return resolve({ schema: mapOf(found), document })
}

/** The forms of a value: one for each option of a union. */
function formsOf(place: Place): readonly Json[] {
  const { schema, document } = resolve(place)
  const options = [...listOf(schema.oneOf), ...listOf(schema.anyOf)]
  if (options.length > 0) return options.flatMap((option) => formsOf({ schema: mapOf(option), document }))
  const parts = listOf(schema.allOf).flatMap((part) => formsOf({ schema: mapOf(part), document }))
  const properties = Object.assign({}, ...parts.map((part) => part.properties), schema.properties)
  return [parts.length === 0 ? schema : { ...schema, ...Object.assign({}, ...parts), properties }]
}

/** The words of each field, by its path such as `tiles[].config.select[].aggFn`. */
function fieldsOf(place: Place, path = '', found = new Map<string, Set<string>>()): ReadonlyMap<string, ReadonlySet<string>> {
  const words = found.get(path) ?? new Set()
  if (path !== '') found.set(path, words)
  for (const form of formsOf(place)) {
    for (const word of [...listOf(form.enum), ...(form.const === undefined ? [] : [form.const])])
      if (typeof word === 'string') words.add(word)
    for (const [name, schema] of Object.entries(mapOf(form.properties)))
      fieldsOf({ ...place, schema: mapOf(schema) }, path === '' ? name : `${path}.${name}`, found)
    if (isMap(form.items)) fieldsOf({ ...place, schema: form.items }, `${path}[]`, found)
  }
  return found
}

interface Request extends Place {
  /** `alerts`, or `alerts/{}` for one of them. */
  readonly path: string
  readonly method: string
}

const requestsIn = (document: Json, prefix: RegExp): readonly Request[] =>
  Object.entries(mapOf(document.paths)).flatMap(([path, methods]) =>
    !prefix.test(path)
      ? []
      : Object.entries(mapOf(methods)).map(([method, operation]) => {
          const json = mapOf(mapOf(mapOf(mapOf(operation).requestBody).content)['application/json'])
          const own = path.replace(prefix, '').replaceAll(/\{\w+\}/g, '{}')
          return { path: own, method: method.toUpperCase(), schema: mapOf(json.schema), document }
        }),
  )

/** What is in the one and not in the other. */
const compare = (what: string, document: Iterable<string>, known: Iterable<string>): readonly string[] => {
  const [theirs, ours] = [new Set(document), new Set(known)]
  return [
    ...[...theirs].filter((one) => !ours.has(one)).map((one) => `${what} ${one} is new`),
    ...[...ours].filter((one) => !theirs.has(one)).map((one) => `${what} ${one} is gone`),
  ]
}

function compareFields(resource: string, theirs: ReturnType<typeof fieldsOf>, ours: ReturnType<typeof fieldsOf>): readonly string[] {
  const words = [...theirs].flatMap(([field, found]) => {
    const known = ours.get(field)
    // Files accept any text where they list no words.
    return known === undefined || known.size === 0 || found.size === 0 ? [] : compare(`${resource}: ${field}`, found, known)
  })
  // What is in a field goes with it.
  const outer = (one: typeof theirs, other: typeof theirs): readonly string[] =>
    [...one.keys()].filter((field) => other.has(field) || other.has(field.replace(/(?:\[\]|\.?\w+)$/, '')) || !/[.[]/.test(field))
  return [...compare(`${resource}: field`, outer(theirs, ours), outer(ours, theirs)), ...words]
}

/** Compares each form of a body with the fields that the emulated gateway knows. */
function compareShape(resource: string, place: Place, shape: Shape, path = ''): readonly string[] {
  if (shape === 'any') return []
  return formsOf(place).flatMap((form): readonly string[] => {
    if (Array.isArray(shape)) return compareShape(resource, { ...place, schema: mapOf(form.items) }, shape[0], `${path}[]`)
    const properties = mapOf(form.properties)
    const first = (schema: unknown): unknown => formsOf({ ...place, schema: mapOf(schema) }).flatMap((one) => one.enum ?? one.const)[0]
    const own =
      typeof shape === 'function'
        ? shape(Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, first(one)])) as never)
        : shape
    if (own === 'any' || Array.isArray(own) || Object.keys(properties).length === 0) return []
    const fields = own as Readonly<Record<string, Shape>>
    const inner = Object.entries(properties).flatMap(([name, schema]) =>
      compareShape(resource, { ...place, schema: mapOf(schema) }, fields[name] ?? 'any', path === '' ? name : `${path}.${name}`),
    )
    const at = path === '' ? `${resource} of the gateway:` : `${resource} of the gateway: ${path}`
    return [...compare(at, Object.keys(properties), Object.keys(fields)), ...inner]
  })
}

/** Fields of files that no request has. */
const onlyInFiles = /(?:^|\.)(?:adopt|previousKey|raw)\b|\.source$/

/** Each difference in a sentence, sorted. */
export function differencesOf(document: Json, { profile, prefix }: (typeof servers)[string]): readonly string[] {
  const kinds = createKinds(profileNamed(profile), 0)
  const requests = requestsIn(document, prefix)
  const names = kindNames.map((kind) => toKebab(sections[kind]))
  const known = names.flatMap((name) => [
    `GET ${name}`,
    `POST ${name}`,
    ...['GET', 'PUT', 'DELETE'].map((method) => `${method} ${name}/{}`),
  ])
  const paths = requests.map(({ method, path }) => `${method} ${path}`)
  const fields = kindNames.flatMap((kind) => {
    const name = toKebab(sections[kind])
    const bodies = requests.filter(({ path, method }) => path.split('/{}')[0] === name && (method === 'POST' || method === 'PUT'))
    const theirs = new Map<string, Set<string>>()
    for (const body of bodies) fieldsOf(body, '', theirs)
    const { schema }: Kind = kinds[kind]
    const own = kind === 'dashboard' ? wireSchema(declaredDashboard) : schema
    const json = z.toJSONSchema(own as z.ZodType, { io: 'input', unrepresentable: 'any' }) as Json
    const ofGateway = bodies.flatMap((body) => {
      const shape = shapes[`${body.method} ${name}`] ?? shapes[`POST ${name}`]
      return profile === 'clickhouse-cloud' && shape !== undefined ? compareShape(name, body, shape) : []
    })
    const ours = [...fieldsOf({ schema: json, document: json })].filter(([field]) => !onlyInFiles.test(field))
    return [...compareFields(name, theirs, new Map(ours)), ...ofGateway]
  })
  return [...new Set([...compare('path', paths, [...known, 'POST dashboards/validate']), ...fields])].toSorted()
}

const knownFile = join(import.meta.dirname, 'contract-known.json')

/** The documents by server, read from `cloud=FILE` and `hyperdx=FILE`. */
export function compareContracts(files: Readonly<Record<string, string>>): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.entries(files).map(([name, file]) => {
      const server = servers[name]
      if (server === undefined) throw new Error(`${name} is not a server; accepted: ${Object.keys(servers).join(', ')}`)
      const document = mapOf(JSON.parse(readFileSync(file, 'utf8')))
      if (requestsIn(document, server.prefix).length === 0) throw new Error(`${file} has no paths like ${server.prefix.source}`)
      return [name, differencesOf(document, server)]
    }),
  )
}

/** What differs now and did not, and what did and does not any more. Empty where nothing has changed. */
export function describeChanges(found: ReturnType<typeof compareContracts>, known: ReturnType<typeof compareContracts>): string {
  const sections = Object.entries(found).flatMap(([name, lines]) => {
    const before = known[name] ?? []
    const items = [
      ...lines.filter((line) => !before.includes(line)),
      ...before.filter((line) => !lines.includes(line)).map((line) => `no longer: ${line}`),
    ]
    return items.length === 0
      ? []
      : [`### ${name}\n\n${items.map((line) => `- \`${quote(line, 200).replaceAll('`', "'")}\``).join('\n')}\n`]
  })
  return sections.join('\n')
}

if (import.meta.main) {
  const args = process.argv.slice(2)
  const pairs = args.filter((arg) => arg.includes('=')).map((arg) => [arg.slice(0, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)])
  const found = compareContracts(Object.fromEntries(pairs))
  if (args.includes('--accept')) writeFileSync(knownFile, `${JSON.stringify(found, undefined, 2)}\n`)
  else process.stdout.write(describeChanges(found, JSON.parse(readFileSync(knownFile, 'utf8'))))
}
