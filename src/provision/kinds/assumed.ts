// Owns what the server fills in by itself in a dashboard. Sources: its code, and its specification of 2026-09.

export const assumed = {
  isBroadcastEnabled: true,
  isVariableEnabled: false,
  collapsible: true,
  bordered: true,
  collapsed: false,
  asRatio: false,
  showOperandSeries: false,
  groupByColumnsOnLeft: false,
  fitYAxisToData: false,
  compareToPreviousPeriod: false,
  type: 'QUERY_EXPRESSION',
} as const
