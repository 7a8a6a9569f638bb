// Owns the text of a file that did not exist.
import { Document, type Pair, type Scalar, YAMLMap } from 'yaml'
import { version } from '../../kernel/version.ts'
import { type Section, sectionNames } from '../declarations-schema.ts'
import type { Body } from '../kinds/kind.ts'
import { foldDefaults } from './defaults.ts'
import type { Addition } from './edit-file.ts'
import { createNode, documentOptions, ourIndentation, textOptions } from './yaml-style.ts'

const schemaAddress = `https://raw.githubusercontent.com/watchkeeper/watchkeeper/v${version.split('.')[0]}/schemas/observability.schema.json`

export function newFile(path: string, additions: readonly Addition[]): string {
  const content = contentOf(additions)
  if (path.endsWith('.json')) return `${JSON.stringify({ $schema: schemaAddress, ...content }, null, 2)}\n`
  const { indent } = ourIndentation
  const document = new Document(undefined, documentOptions)
  const root = new YAMLMap(document.schema)
  for (const [section, objects] of Object.entries(content)) {
    const map = new YAMLMap(document.schema)
    for (const [key, fields] of Object.entries(objects)) {
      const node = createNode(document, fields, { name: key, column: indent * 2, indent, isOpen: true })
      map.items.push(spaced(document.createPair(key, node), map.items.length > 0))
    }
    root.items.push(spaced(document.createPair(section, map), root.items.length > 0))
  }
  document.contents = root
  return `# yaml-language-server: $schema=${schemaAddress}\n${document.toString(textOptions(ourIndentation))}`
}

/** What the file holds, in the order in which it is read. */
function contentOf(additions: readonly Addition[]): Readonly<Record<string, Readonly<Record<string, Body>>>> {
  const of = (section: Section) => additions.filter((addition) => addition.section === section)
  const { defaults, alerts } = foldDefaults(of('alerts').map(({ fields }) => fields))
  const objectsOf = (section: Section): readonly (readonly [string, Body])[] =>
    of(section).map(({ key, fields }, i) => [key, section === 'alerts' ? (alerts[i] ?? fields) : fields])
  const filled = sectionNames.map((section) => [section, Object.fromEntries(objectsOf(section))] as const)
  return {
    ...(Object.keys(defaults).length > 0 && { defaults: { alerts: defaults } }),
    ...Object.fromEntries(filled.filter(([, objects]) => Object.keys(objects).length > 0)),
  }
}

/** With an empty line before it. */
export function spaced(pair: Pair, isSpaced: boolean): Pair {
  if (isSpaced) (pair.key as Scalar).spaceBefore = true
  return pair
}
