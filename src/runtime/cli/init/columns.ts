// Text in lines, for a terminal.

export const indent = (lines: readonly string[], by: number): readonly string[] => lines.map((line) => `${' '.repeat(by)}${line}`)

export const inColumns = (rows: readonly (readonly [string, string])[]): readonly string[] => {
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`.trimEnd())
}
