// The action's entry: hands environment and signals over. Nothing else reads them.
import { runAction } from './surfaces/action/run-action.ts'

// A reader that went away ends the log, not the verdict.
process.stdout.on('error', () => undefined)

process.exitCode = await runAction(process.env, {
  on: (signal, handler) => process.on(signal, handler),
  off: (signal, handler) => process.off(signal, handler),
  exit: (code) => process.exit(code),
})
