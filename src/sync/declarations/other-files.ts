// Files of other programs, and dashboards without a key: what they are, and what to do with them.
import {
  describeWebAppFile,
  isApiDashboard,
  isSingleDashboard,
  isWebAppDashboard,
  singleDashboard,
  translateWith,
} from '../../kinds/dashboard/dashboard-file.ts'
import { type Body, listOf } from '../../kinds/kind.ts'
import { sectionNames } from '../../kinds/kind-names.ts'
import { isEmpty, isMapping } from '../../platform/core/keys.ts'

export const importable = 'import reads only alert rules of Grafana, and dashboards of the web app and in the form of the API'

const has = (value: unknown, ...fields: readonly string[]) => isMapping(value) && fields.every((field) => !isEmpty(value[field]))

const hasRule = (groups: unknown, test: (rule: unknown) => boolean) =>
  listOf(groups).some((group) => isMapping(group) && Array.isArray(group.rules) && group.rules.some(test))

const slosPage = 'https://github.com/watchkeeper/watchkeeper/blob/main/docs/slos.md'

/** What a file is that `import` does not read. */
export function describeOtherProgram(root: Body): string | undefined {
  const { kind, groups, spec, dashboard = root } = root
  const [, slo] = /^(openslo|prometheus|sloth)\b/.exec(String(root.apiVersion ?? root.version)) ?? []
  if (slo !== undefined) return `is an SLO of ${slo === 'openslo' ? 'OpenSLO' : 'Sloth'}; declare it as in ${slosPage}`
  const isRule = (rule: unknown) => has(rule, 'expr') && !has(rule, 'data')
  const program =
    kind === 'PrometheusRule' || hasRule(groups ?? spec, isRule)
      ? 'a rule file of Prometheus'
      : has(dashboard, 'panels') || has(dashboard, 'schemaVersion') || has(spec, 'elements')
        ? 'a dashboard of Grafana'
        : has(root, 'widgets')
          ? 'a dashboard of Datadog'
          : has(root, 'query', 'type')
            ? 'a monitor of Datadog'
            : undefined
  return program && `is ${program}; ${importable}`
}

/** What a file is that has no declarations; undefined for others. */
export function describeOtherFile(document: unknown, path: string): string | undefined {
  const translate = translateWith(path)
  if (isWebAppDashboard(document)) return describeWebAppFile(path)
  if (isSingleDashboard(document))
    return isApiDashboard(document)
      ? `is a dashboard in the form of the API, which create-dashboard takes; ${translate}`
      : `is ${singleDashboard}; give it a key under dashboards`
  const root = isMapping(document) ? document : { rules: document }
  if (hasRule([root, ...listOf(root.groups)], (rule) => has(rule, 'data', 'condition')))
    return `is a file with alert rules of Grafana; ${translate}`
  if (sectionNames.some((section) => has(root, section))) return undefined
  return has(root, 'threshold', 'interval')
    ? 'is a single alert, which create-alert takes; give it a key under alerts'
    : describeOtherProgram(root)
}
