// The action's entry: hands environment and signals over. Nothing else reads them.
import { reportCrash, runAction } from './runtime/action/run-action.ts'

// A reader that went away ends the log, not the verdict.
process.stdout.on('error', () => undefined)

// What nobody caught would print a line of the bundle, which is all of it, and leave the outputs empty.
process.on('uncaughtException', (thrown) => void reportCrash(thrown, process.env).finally(() => process.exit(1)))

process.exitCode = await runAction(process.env, {
  on: (signal, handler) => process.on(signal, handler),
  off: (signal, handler) => process.off(signal, handler),
  exit: (code) => process.exit(code),
})
