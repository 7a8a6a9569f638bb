// The public names of the library.
export { ApiError } from './api/api-error.ts'
export type { Diagnostic, Location, Severity } from './core/diagnostics.ts'
export { type ErrorKind, exitCodes, InputError, InternalError, WatchkeeperError } from './core/errors.ts'
export { version } from './core/version.ts'
export { type DeclarationsFile, type OperationName, operationNames } from './operations.ts'
export { type Client, type ClientOptions, createClient, type InputOf, type ResultOf } from './runtime/library/create-client.ts'
