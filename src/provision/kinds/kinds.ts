// Owns the kinds that a product behind the API has.
import type { Profile } from '../../api/profiles.ts'
import type { Section } from '../declarations-schema.ts'
import { createAlertKind } from './alert-kind.ts'
import { dashboardKind } from './dashboard-kind.ts'
import type { Kind } from './kind.ts'
import { savedSearchKind } from './saved-search-kind.ts'

export type Kinds = { readonly [S in Section]: Kind & { readonly section: S } }

/** The fields of an alert that the neutral contract documents. */
export const neutralAlertFields: readonly string[] = [
  'dashboardId',
  'tileId',
  'threshold',
  'interval',
  'source',
  'thresholdType',
  'channel',
  'name',
  'message',
]

export const createKinds = ({ extraAlertFields }: Profile): Kinds => ({
  savedSearches: savedSearchKind,
  dashboards: dashboardKind,
  alerts: createAlertKind((field) => neutralAlertFields.includes(field) || extraAlertFields.includes(field)),
})
