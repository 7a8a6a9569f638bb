import type { WebAppDashboard } from '../../src/emulator/index.ts'

type Json = Readonly<Record<string, unknown>>

/** The document that the web app of the product sends for a dashboard, from the form in which the emulator stores it. */
export function toWebAppDocument({ tiles, filters = [], ...dashboard }: WebAppDashboard): unknown {
  return {
    tags: [],
    ...dashboard,
    tiles: tiles.map(({ name = '', config, ...tile }, index) => ({
      x: 0,
      y: index * 6,
      w: 12,
      h: 6,
      ...tile,
      config: { ...toDocumentConfig(config), name },
    })),
    filters: filters.map(({ sourceId, ...filter }) => ({ ...filter, source: sourceId })),
  }
}

/** Of a tile: other names for sources, series and their conditions. */
function toDocumentConfig({ sourceId, connectionId, select, asRatio, limit, ...config }: Json): Json {
  return {
    where: '',
    ...config,
    ...((sourceId !== undefined || config.configType === undefined) && { source: sourceId ?? '' }),
    ...(connectionId !== undefined && { connection: connectionId }),
    ...(limit !== undefined && { seriesLimit: limit }),
    ...(asRatio === true && { seriesReturnType: 'ratio' }),
    ...(select !== undefined && { select: Array.isArray(select) ? select.map(toDocumentItem) : select }),
  }
}

const toDocumentItem = ({ where, whereLanguage, periodAggFn, valueExpression = '', ...item }: Json): Json => ({
  ...item,
  valueExpression,
  aggCondition: where ?? '',
  aggConditionLanguage: whereLanguage ?? 'lucene',
  ...(periodAggFn === 'delta' && { isDelta: true }),
})
