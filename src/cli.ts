#!/usr/bin/env node
// Nothing else reads arguments, environment, streams and signals.

import type { Terminal } from './runtime/cli/terminal.ts'
import { explainOldNode } from './runtime/node-version.ts'

const problem = explainOldNode(process.versions.node)
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`)
  process.exit(1)
}

// A run that stops before its end must not look like a success.
process.exitCode = 1

// A reader that went away (`| head -1`) ends the output, not the verdict.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

const args: readonly string[] = process.argv.slice(2)

const terminal: Terminal = {
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
}

// Node would print the text of the exception, which may hold a secret.
process.on('uncaughtException', (thrown) => {
  const end = (): void => void process.stderr.write('', () => process.exit(1))
  void loadCli()
    .then(({ reportCrash }) => reportCrash(thrown, args, terminal))
    .then(end, end)
})

// The main file of the single executable is CommonJS, which has no `await` outside of functions.
void runProcess()

async function runProcess(): Promise<void> {
  const { runCli } = await loadCli()
  process.exitCode = await runCli(args, terminal)
}

/** An older Node cannot load the command line. */
async function loadCli() {
  return import('./runtime/cli/run-cli.ts')
}
