import { printable } from '../core/text.ts'

export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly samples: readonly MetricSample[]
}

interface MetricSample {
  readonly labels: Readonly<Record<string, string>>
  /** A plain decimal. */
  readonly value: string
}

/**
 * For a push gateway or a collector that reads files. All metrics are gauges, because every number can go down. Families without samples
 * are left out.
 */
export function renderOpenMetrics(families: readonly MetricFamily[]): string {
  const lines = families
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, help, samples }) => {
      const full = `watchkeeper_${name}`
      return [
        `# TYPE ${full} gauge`,
        `# HELP ${full} ${escapedLabel(help)}`,
        ...samples.map((sample) => `${full}${labelPairs(sample)} ${sample.value}`),
      ]
    })
  return `${[...lines, '# EOF'].join('\n')}\n`
}

function labelPairs({ labels }: MetricSample) {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapedLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

// The format allows all control characters except the newline, but readers that split lines at others would fail.
const escapedLabel = (text: string) =>
  text
    .split('\n')
    .map((line) => printable(line).replaceAll('\\', '\\\\').replaceAll('"', '\\"'))
    .join('\\n')
