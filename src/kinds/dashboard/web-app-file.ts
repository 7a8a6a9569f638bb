import { isMapping } from '../../platform/core/keys.ts'
import { quote, shellQuote } from '../../platform/core/text.ts'
import { type Body, listOf } from '../kind.ts'

/**
 * Whether a document is a dashboard of the web app: an export, a template, or a file of the provisioner. Their tiles have names and sources
 * in their charts.
 */
export function isWebAppDashboard(document: unknown): boolean {
  if (!isMapping(document) || !Array.isArray(document.tiles)) return false
  const isOfWebApp = ({ name, config }: Body): boolean =>
    name === undefined && isMapping(config) && ['name', 'where', 'select', 'sqlTemplate'].some((field) => Object.hasOwn(config, field))
  return typeof document.version === 'string' || listOf(document.tiles).some((tile) => isMapping(tile) && isOfWebApp(tile))
}

/** What the file is, and the command that translates it. `name` is the path of a file, or of an input. */
export const describeWebAppFile = (name: string): string =>
  `is a dashboard of the web app; translate it with: watchkeeper import ${/\.(?:ya?ml|json)$/.test(name) ? shellQuote(quote(name)) : 'FILE'}`
