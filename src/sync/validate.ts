import * as z from 'zod'
import { diagnosticSchema, locationSchema, type Severity } from '../core/diagnostics.ts'
import { counted, say } from '../core/line.ts'
import { environmentInput, ofEnvironment } from '../declarations/environment.ts'
import { filesInput, findDeclarations } from '../declarations/find-declarations.ts'
import { escapeExpressions } from '../documents/expressions.ts'
import type { DeclaredKey } from '../kinds/kind.ts'
import { kindNames, sections } from '../kinds/kind-names.ts'
import { flag } from '../operation/inputs.ts'
import { defineOperation, pass } from '../operation/operation.ts'
import { diagnosticReports } from './diagnostic-reports.ts'
import { allRules } from './rules.ts'

export const validate = defineOperation({
  summary: 'Checks files with alerts and dashboards, offline and without credentials. Each diagnostic has a file, line and column.',
  effect: 'read',
  scope: 'none',
  input: z.strictObject({
    files: filesInput,
    env: environmentInput,
    expanded: flag('Prints the objects as the service gets them: with the values of instances, defaults and the environment.').default(
      false,
    ),
  }),
  output: z.object({
    valid: z.boolean().describe('Whether the files have no errors.'),
    objectCount: z.int().describe('Number of declared objects.'),
    errorCount: z.int().describe('Number of errors.'),
    warningCount: z.int().describe('Number of warnings.'),
  }),
  details: z.object({
    environment: z.string().optional().describe('The environment, if `env` is set.'),
    files: z.array(z.string()).describe('The files that were read.'),
    objects: z
      .array(z.object({ kind: z.enum(kindNames), key: z.string(), name: z.string(), location: locationSchema }))
      .describe('The declared objects that are valid by themselves.'),
    expandedFile: z.string().optional().describe('With `expanded`: the objects as one YAML file.'),
    diagnostics: z.array(diagnosticSchema).describe('Errors, warnings and notes, with their locations.'),
  }),
  example: { files: ['checkout.yml'] },
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
      objects: objects.map(({ kind, key, value, location }) => ({ kind, key, name: value.name, location })),
      ...(input.expanded && { expandedFile: await writeExpanded([...objects, ...broken]) }),
      diagnostics: [...diagnostics],
    }
  },
  judge({ errorCount, warningCount }) {
    if (errorCount > 0) return { status: 'fail', reasons: [say`${counted(errorCount, 'error')}`], exit: 'input' }
    return warningCount > 0 ? { status: 'warn', reasons: [say`${counted(warningCount, 'warning')}`] } : pass
  },
  report: ({ environment, files, objectCount, diagnostics, expandedFile }) => ({
    headline: say`${counted(objectCount, 'object')} in ${counted(files.length, 'file')}${ofEnvironment({ environment })}`,
    blocks: [
      { kind: 'diagnostics', diagnostics },
      ...(expandedFile === undefined ? [] : [{ kind: 'preformatted', text: expandedFile.trimEnd() } as const]),
    ],
    annotations: diagnostics,
  }),
  reports: diagnosticReports(allRules),
})

/** Expressions are replaced, so a literal one is escaped: the text is a valid file. */
async function writeExpanded(objects: readonly (DeclaredKey & { readonly written: unknown })[]): Promise<string> {
  const { stringify } = await import('yaml')
  const entries = kindNames.map((kind) => {
    const own = objects.filter((one) => one.kind === kind).map(({ key, written }) => [key, written] as const)
    return [sections[kind], Object.fromEntries(own)] as const
  })
  const content = Object.fromEntries(entries.filter(([, own]) => Object.keys(own).length > 0))
  return stringify(escapeExpressions(content), { aliasDuplicateObjects: false, lineWidth: 0 })
}
