// The library's public names, and nothing else.
export { ApiError } from './api/api-error.ts'
export { type ErrorKind, exitCodes, InputError, type Problem, WatchkeeperError } from './kernel/errors.ts'
export { version } from './kernel/version.ts'
export { type OperationName, operationNames } from './operations/index.ts'
export { type Client, type ClientOptions, createClient, type InputOf, type ResultOf } from './surfaces/library/create-client.ts'
