// The package has no types of its own.
declare module 'parse-prometheus-text-format' {
  interface Sample {
    readonly value: string
    readonly labels?: Readonly<Record<string, string>>
  }
  interface Family {
    readonly name: string
    readonly help: string
    readonly type: string
    readonly metrics: readonly Sample[]
  }
  const parse: (text: string) => readonly Family[]
  export = parse
}
