import { isMapping } from '../../platform/core/keys.ts'
import { quote, shellQuote } from '../../platform/core/text.ts'
import { type Body, listOf } from '../kind.ts'
import { isApiDashboard } from './dashboard-file.ts'

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

export const singleDashboard = 'a single dashboard, which create-dashboard takes'

/** Whether a document is one dashboard with the field names of the API, and not a file with declarations. */
export const isSingleDashboard = (document: unknown): document is Body =>
  isMapping(document) && Array.isArray(document.tiles) && 'name' in document

/** What a file is that is a dashboard, and the command that translates it; undefined for other files. */
export function describeDashboardFile(document: unknown, path: string): string | undefined {
  if (isWebAppDashboard(document)) return describeWebAppFile(path)
  if (!isSingleDashboard(document)) return undefined
  return isApiDashboard(document)
    ? `is a dashboard in the form of the API, which create-dashboard takes; ${translateWith(path)}`
    : `is ${singleDashboard}; give it a key under dashboards`
}

/** `name` is the path of a file, or of an input. */
export const describeWebAppFile = (name: string): string => `is a dashboard of the web app; ${translateWith(name)}`

const translateWith = (name: string): string =>
  `translate it with: watchkeeper import ${/\.(?:ya?ml|json)$/.test(name) ? shellQuote(quote(name)) : 'FILE'}`
