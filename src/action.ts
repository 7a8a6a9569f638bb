// Only this file reads variables and signals.
import { explainOldNode } from './runtime/node-version.ts'
import { prepareForOneRun } from './runtime/one-run.ts'

// A runner has the right one. People start the bundle with others.
const problem = explainOldNode(process.versions.node)
if (problem !== undefined) {
  process.stdout.write(`::error title=Watchkeeper::${problem}\n`)
  process.exit(1)
}

prepareForOneRun()

// @actions/github parses the event when it is loaded, and throws for one that is not JSON.
const env = { ...process.env }
delete process.env.GITHUB_EVENT_PATH

const { reportCrash, runAction } = await import('./runtime/action/run-action.ts')

// A reader that went away ends the log, not the verdict.
process.stdout.on('error', () => undefined)

// Node would print the line of the bundle that threw, which is the whole file, and leave the outputs empty.
process.on('uncaughtException', (thrown) => void reportCrash(thrown, env).finally(() => process.exit(1)))

process.exitCode = await runAction(env, {
  on: (signal, handler) => process.on(signal, handler),
  off: (signal, handler) => process.off(signal, handler),
  exit: (code) => process.exit(code),
})
