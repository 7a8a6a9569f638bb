import * as z from 'zod'

/** The formats of reports: those of every operation, then those that only some have. */
export const commonFormats = ['html', 'markdown', 'json'] as const

const reportFormats = [...commonFormats, 'csv', 'focus', 'openmetrics', 'sarif'] as const

export type ReportFormat = (typeof reportFormats)[number]

/** `html=report.html` */
export interface WantedReport {
  readonly format: ReportFormat
  readonly path: string
}

/** A path of `-` is rejected, because it would be a file of that name. */
const wantedReport = z
  .string()
  .max(4096)
  .transform((text, context): WantedReport => {
    const [, format = '', path = ''] = /^([a-z-]+)=(?!-$)([^\r\n]+)$/.exec(text) ?? []
    const known = reportFormats.find((one) => one === format)
    if (known !== undefined) return { format: known, path }
    context.addIssue({ code: 'custom', message: 'is not a report' })
    return z.NEVER
  })

export const reportsInput = z
  .array(wantedReport)
  .max(20)
  .optional()
  .meta({
    group: 'Output',
    description: `Writes reports to files, one \`format=path\` per line. Every operation has ${commonFormats.join(', ')}; \`json\` is the full result. usage-cost also has csv, focus and openmetrics, and operations on files have sarif.`,
    accepts: `format=path, one per line, such as html=report.html; the formats are ${reportFormats.join(', ')}`,
  })
