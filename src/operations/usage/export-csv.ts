// Owns the records as a table for spreadsheets and scripts: one row a record, one column a metric.
import { type Cell, renderCsv } from '../../report/csv.ts'
import type { UsageResult } from './result.ts'

export function exportCsv({ records, unit }: UsageResult): string {
  const metrics = [...new Set(records.flatMap((record) => Object.keys(record.metrics)))].sort()
  const head = ['date', 'entity_type', 'entity_id', 'entity_name', 'warehouse_id', 'service_id', 'final', 'unit', 'total', ...metrics]
  const rows = records.map((record): readonly Cell[] => [
    record.date,
    record.entityType,
    record.entityId,
    record.entityName,
    record.warehouseId,
    record.serviceId,
    String(record.locked),
    unit,
    { number: record.total },
    ...metrics.map((metric): Cell => {
      const amount = record.metrics[metric]
      return amount === undefined ? undefined : { number: amount }
    }),
  ])
  return renderCsv([head, ...rows])
}
