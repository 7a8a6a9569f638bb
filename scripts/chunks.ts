// How the bundle is split: a step reads and compiles index.js, and the rest only when it needs it.

/** What most steps need is part of index.js. */
const eager = new Set(['./runtime/action/run-action.js', './usage/usage-cost.js'])

/** Packages that the bundler puts into a file of their own: requests, and GitHub. */
const separate = new Set(['undici', '@actions/github'])

/** Tells the bundler, in each `import()` of a compiled module, where to put the imported code. */
export const chunkImports = (text: string): string =>
  text.replaceAll(/\bimport\('([^']*)'\)/g, (whole, from: string) => {
    if (separate.has(from) || from.startsWith('node:')) return whole
    // One file for all of these: separate ones would repeat what they share.
    return `import(/* ${eager.has(from) ? 'webpackMode: "eager"' : 'webpackChunkName: "on-demand"'} */ '${from}')`
  })
