export type { LoggedRequest } from './control.ts'
export { type Emulator, startEmulator } from './emulator.ts'
export type { Effect, Fault, FaultHeaders } from './faults.ts'
export type { Dialect, EmulatorOptions, RateLimit } from './options.ts'
export type { RunSql, SqlRequest, SqlResult } from './product/sql.ts'
export type { Restore } from './restore.ts'
export { demo } from './shop/demo.ts'
export type {
  Activity,
  Alert,
  ApiKey,
  Backup,
  BackupConfiguration,
  Channel,
  Connection,
  CreditBalance,
  Dashboard,
  DashboardFilter,
  JsonObject,
  Organization,
  Permission,
  SavedSearch,
  Service,
  Source,
  Store,
  Table,
  Tag,
  Tile,
  UsageRecord,
  Webhook,
} from './store.ts'
export type { ReadTexts, SaveAnswer, WebAppDashboard } from './web-app.ts'
