import { config } from 'zod'

/** zod compiles a schema when it is first used. In a process with one run, that takes longer than it saves. Call it before any schema is made. */
export const disableSchemaCompiler = (): void => void config({ jitless: true })
