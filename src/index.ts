// The public names of the library.

export { type DeclarationsFile, type OperationName, operationNames } from './operations.ts'
export { ApiError } from './platform/api/api-error.ts'
export type { Diagnostic, Location, Severity } from './platform/core/diagnostics.ts'
export { type ErrorKind, exitCodes, InputError, InternalError, WatchkeeperError } from './platform/core/errors.ts'
export { version } from './platform/core/version.ts'
export { type Client, type ClientOptions, createClient, type InputOf, type ResultOf } from './runtime/library/create-client.ts'
