import * as z from 'zod'
import { diagnosticSchema, locationSchema, type Severity } from '../core/diagnostics.ts'
import { counted, say } from '../core/line.ts'
import { filePath } from '../operation/inputs.ts'
import { defineOperation, pass } from '../operation/operation.ts'
import { renderSarif } from '../report/sarif.ts'
import { sectionNames } from '../resources/resource-type.ts'
import { filesInput, findDeclarations } from './declarations.ts'
import { environmentInput, ofEnvironment } from './environment.ts'
import { allRules } from './rules.ts'

export const validate = defineOperation({
  summary: 'Checks files with alerts and dashboards, offline and without credentials. Each diagnostic has a file, line and column.',
  effect: 'read',
  scope: 'none',
  input: z.strictObject({
    files: filesInput,
    env: environmentInput,
    sarifFile: filePath('Writes the diagnostics to this file as SARIF 2.1.0, for code scanning.', 'a path').optional(),
  }),
  output: z.object({
    valid: z.boolean().describe('Whether the files have no errors.'),
    objectCount: z.int().describe('Number of alerts, dashboards and saved searches.'),
    errorCount: z.int().describe('Number of errors.'),
    warningCount: z.int().describe('Number of warnings.'),
  }),
  details: z.object({
    environment: z.string().optional().describe('The environment, if `env` is set.'),
    files: z.array(z.string()).describe('The files that were read.'),
    objects: z
      .array(z.object({ section: z.enum(sectionNames), key: z.string(), name: z.string(), location: locationSchema }))
      .describe('The declared objects that are valid by themselves.'),
    diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes, with their locations.'),
  }),
  example: { files: ['examples/observability/*.yml'] },
  async run(context, input) {
    const { paths, objects, broken, diagnostics } = await findDeclarations(input.files, context)
    const count = (severity: Severity): number => diagnostics.filter((one) => one.severity === severity).length
    return {
      valid: count('error') === 0,
      objectCount: objects.length + broken.length,
      errorCount: count('error'),
      warningCount: count('warning'),
      ...(context.environment !== undefined && { environment: context.environment.name }),
      files: [...paths],
      objects: objects.map(({ section, key, value, location }) => ({ section, key, name: value.name, location })),
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
  async files({ diagnostics }, input) {
    return input.sarifFile === undefined ? [] : [{ input: 'sarifFile', path: input.sarifFile, content: renderSarif(allRules, diagnostics) }]
  },
})
