import { type ResolveFnOutput, registerHooks } from 'node:module'
import { config } from 'zod'

declare global {
  var isResolvedOnce: true | undefined
}

// As in a run: most schemas are used too rarely to be worth compiling.
config({ jitless: true })

// Vitest reports every import to its main thread, also when a function that is called again loads the same module again. Each test file
// loads this file again.
if (!globalThis.isResolvedOnce) {
  globalThis.isResolvedOnce = true
  const resolved = new Map<string, ResolveFnOutput>()
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const key = JSON.stringify([specifier, context])
      const found = resolved.get(key) ?? nextResolve(specifier, context)
      // The URLs of test files have a query with the time.
      if (!found.url.includes('?')) resolved.set(key, found)
      return { ...found, shortCircuit: true }
    },
  })
}
