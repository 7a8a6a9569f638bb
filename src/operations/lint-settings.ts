// Owns how a repository sets the severities of the rules, under `rules` in its config file.
import * as z from 'zod'
import { severities } from '../provision/finding.ts'
import { type LintRule, lintRules } from '../provision/lint.ts'

const ids = Object.keys(lintRules) as [LintRule, ...LintRule[]]

export const lintSettingsSchema = z.partialRecord(z.enum(ids), z.enum([...severities, 'off'])).meta({
  description: 'Severities of the rules of validate, by id.',
})
