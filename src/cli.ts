#!/usr/bin/env node
// The command line's entry: hands arguments, environment, streams and signals over. Nothing else reads them.

// A flag may hold a secret, and every user of the machine can read the list of processes.
process.title = 'watchkeeper'

const oldestNode = 24
if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  process.stderr.write(`watchkeeper requires Node ${oldestNode} or newer. This is Node ${process.version}.\n`)
  process.exit(1)
}

// Only now: an older Node could not even load it.
const { runCli } = await import('./runtime/cli/run-cli.ts')

// A reader that went away (`| head -1`) ends the output, not the verdict.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

process.on('uncaughtException', async (thrown) => {
  const { toWatchkeeperError } = await import('./core/errors.ts')
  process.stderr.write(`${toWatchkeeperError(thrown).message}\n`, () => process.exit(1))
})

process.exitCode = await runCli(process.argv.slice(2), {
  script: import.meta.filename,
  env: process.env,
  directory: process.cwd(),
  // Opened only when a command asks a question.
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  signals: {
    on: (signal, handler) => process.on(signal, handler),
    off: (signal, handler) => process.off(signal, handler),
    exit: (code) => process.exit(code),
  },
})
