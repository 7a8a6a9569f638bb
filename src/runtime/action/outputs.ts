import { appendFileSync, statSync, truncateSync } from 'node:fs'

/** The toolkit does the same, but it loads node:crypto for its delimiter, which takes 3 ms. */
export function writeOutputs(outputs: Readonly<Record<string, string>>, file: string): void {
  // A missing file is an error in the runner's setup, so it is not created. A pipe could wait for its reader forever.
  const stats = statSync(file)
  if (!stats.isFile()) throw new Error('GITHUB_OUTPUT is not a regular file')
  const lines = Object.entries(outputs).map(([name, value]) => outputLines(name, value))
  try {
    appendFileSync(file, lines.join(''))
  } catch (thrown) {
    // The runner fails on a file that ends inside of a value, and drops the outputs of earlier commands, too.
    truncateSync(file, stats.size)
    throw thrown
  }
}

/** A value ends at the first line that equals the delimiter, so no line of the value may. */
export function outputLines(name: string, value: string): string {
  // Only on Windows does the runner end a line with `\r\n`, and nowhere with `\r`: FileCommandManager.cs of actions/runner.
  const lines = new Set(value.split(/\r?\n/))
  let count = 0
  while (lines.has(`ghadelimiter_${count}`)) count += 1
  const delimiter = `ghadelimiter_${count}`
  return `${name}<<${delimiter}\n${value}\n${delimiter}\n`
}
