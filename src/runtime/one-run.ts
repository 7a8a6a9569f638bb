import { config } from 'zod'
import { skipParserOptimization } from '../http/parser.ts'

/**
 * Skips optimizations that take longer than a process with one run saves with them. Call it before any schema is made and any request is
 * sent. zod compiles a schema when it is first used.
 */
export function prepareForOneRun(): void {
  config({ jitless: true })
  skipParserOptimization()
}
