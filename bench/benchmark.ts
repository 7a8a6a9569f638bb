// A benchmark: a few numbers of one run on one machine, and a goal for readers; no test depends on it.
import type { Block } from '../src/platform/report/blocks.ts'

export interface Extent {
  /** A few rounds and no large sizes: for CI, where the table is kept but no user waits for it. */
  readonly isShort: boolean
  /** Actions whose start is compared. */
  readonly otherActions: readonly OtherAction[]
  /** The directory with the binaries of OpenTofu and of the ClickHouse provider, to compare applies with. */
  readonly tofu: string | undefined
}

export interface OtherAction {
  readonly name: string
  /** Its entry, a file for Node. */
  readonly file: string
}

/** Resolves to the part of the report. Times are compared within one run; by themselves they tell about the machine. */
export type Benchmark = (extent: Extent) => Promise<readonly Block[]>

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]]
  if (low === undefined || high === undefined) throw new Error('nothing was measured')
  return (low + high) / 2
}

/** How a cost grows with size: 1 is linear, 2 quadratic. The slope of a line through the logarithms, by least squares. */
export function growthExponent(points: readonly { readonly size: number; readonly cost: number }[]): number {
  const logs = points.map(({ size, cost }) => [Math.log(size), Math.log(cost)] as const)
  const meanX = logs.reduce((sum, [x]) => sum + x, 0) / logs.length
  const meanY = logs.reduce((sum, [, y]) => sum + y, 0) / logs.length
  const spread = logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  return logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread
}
