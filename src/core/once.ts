// Owns doing something with the first call that needs it, and keeping what came of it.

/** The function, called at most once. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
