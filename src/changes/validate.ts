import * as z from 'zod'
import { kindNames } from '../kinds/kind-names.ts'
import { labelOf } from '../kinds/kinds.ts'
import { diagnosticSchema, locationSchema, type Severity } from '../platform/core/diagnostics.ts'
import { counted, say } from '../platform/core/line.ts'
import { defineOperation, noFields } from '../platform/operation/operation.ts'
import { pass } from '../platform/report/report.ts'
import { diagnosticReports } from '../platform/report/sarif.ts'
import { environmentInput, ofEnvironment } from '../sync/declarations/environment.ts'
import { findDeclarations } from '../sync/declarations/find-declarations.ts'
import { isMadeForQueries } from '../sync/query-alerts/query-alerts.ts'
import { filesInput } from './inputs.ts'
import { allRules } from './rules.ts'

export const validate = defineOperation({
  summary: 'Checks files with alerts and dashboards, offline and without credentials. Each diagnostic has a file, line and column.',
  effect: 'read',
  scope: 'none',
  input: z.strictObject({
    files: filesInput,
    env: environmentInput,
  }),
  output: noFields,
  details: z.object({
    valid: z.boolean().describe('Whether the files have no errors.'),
    objectCount: z.int().describe('Number of declared objects.'),
    errorCount: z.int().describe('Number of errors.'),
    warningCount: z.int().describe('Number of warnings.'),
    environment: z.string().optional().describe('The environment, if `env` is set.'),
    files: z.array(z.string()).describe('The files that were read.'),
    objects: z
      .array(z.object({ kind: z.enum(kindNames), key: z.string(), name: z.string(), location: locationSchema }))
      .describe('The declared objects that are valid by themselves.'),
    diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes, with their locations.'),
  }),
  example: { files: ['checkout.yml'] },
  async run(context, input) {
    const { paths, broken, diagnostics, ...found } = await findDeclarations(input.files, context)
    const objects = found.objects.filter((one) => !isMadeForQueries(one))
    const count = (severity: Severity): number => diagnostics.filter((one) => one.severity === severity).length
    return {
      valid: count('error') === 0,
      objectCount: objects.length + broken.length,
      errorCount: count('error'),
      warningCount: count('warning'),
      ...(context.environment !== undefined && { environment: context.environment.name }),
      files: [...paths],
      objects: objects.map((one) => ({ kind: one.kind, key: one.key, name: labelOf(one), location: one.location })),
      diagnostics: [...diagnostics],
    }
  },
  judge({ errorCount, warningCount }) {
    if (errorCount > 0) return { status: 'fail', reasons: [say`${counted(errorCount, 'error')}`], exit: 'input' }
    return warningCount > 0 ? { status: 'warn', reasons: [say`${counted(warningCount, 'warning')}`] } : pass
  },
  report: ({ environment, files, objectCount, diagnostics }) => ({
    headline: say`${counted(objectCount, 'object')} in ${counted(files.length, 'file')}${ofEnvironment({ environment })}`,
    blocks: [{ kind: 'diagnostics', diagnostics }],
    annotations: diagnostics,
  }),
  reports: diagnosticReports(allRules),
})
