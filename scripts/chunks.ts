// Owns which files the bundle is cut into: a step reads and compiles index.js and, of the rest, what it asks for.

/** What nearly every step asks for: not worth a file of its own. */
const everySteps = new Set(['./usage/usage-cost.js', './usage.js'])

/** What is asked for by itself: how to send a request, and how to talk to GitHub. */
const byThemselves = new Set(['undici', '@actions/github'])

/** Adds to each `import()` in the text of a compiled module where the bundler shall put what it imports. */
export const chunkImports = (text: string): string =>
  text.replaceAll(/\bimport\('([^']*)'\)/g, (whole, from: string) => {
    if (byThemselves.has(from) || from.startsWith('node:')) return whole
    // One file for all of these: each of its own would repeat what they share.
    return `import(/* ${everySteps.has(from) ? 'webpackMode: "eager"' : 'webpackChunkName: "on-demand"'} */ '${from}')`
  })
