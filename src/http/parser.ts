// undici parses HTTP with a WebAssembly module. V8 compiles it again, with optimizations, when it has read about a kilobyte of headers: one or
// two answers. This takes 10 to 15 ms and 20 MB, on another thread and at the end of the process. Only a process with thousands of requests
// could regain the time, and 10,000 requests take the same time without it.

/** The releases of Node for which this was measured. Another V8 could reject the flag, or count its value in another way. */
const measuredMajor = '24'

let isOptimized = true

/** Skips an optimization that does not pay in a process with one run. Call it before the first request. */
export const skipParserOptimization = (): void => {
  isOptimized = false
}

/** Call it when undici is loaded, before the first request: Node loads modules more slowly after a flag has changed. */
export function prepareParser(forHttps: boolean): void {
  if (isOptimized || process.versions.node.split('.')[0] !== measuredMajor) return
  // undici would load it after the change.
  if (forHttps) process.getBuiltinModule('node:tls')
  process.getBuiltinModule('node:v8').setFlagsFromString('--wasm-tiering-budget=1000000000')
}
