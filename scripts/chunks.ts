// How the bundle is split: a step reads and compiles index.js, and the rest only when it needs it.

/** What most steps need is part of index.js. */
const eager = new Set(['./runtime/action/run-action.js', './cost/usage/usage-cost.js'])

/** Packages that the bundler puts into a file of their own: requests, and GitHub. */
const separate = new Set(['undici', '@actions/github'])

/** Runs that load one of these load the others, too. Apart, each file would have a copy of what they share. */
const together: Readonly<Record<string, string>> = {
  'notify-github': 'github',
  sync: 'config-file',
  'backtest-plan': 'backtest',
  'budgets-file': 'usage',
  'price-plan': 'plan',
  'query-problems': 'plan',
  'slo-queries': 'plan',
}

/** The first folder that a path names, or the file, or the package. */
function chunkOf(from: string): string {
  const name = /^(?:\.{1,2}\/)*(?:(?:platform|signals|cost|delivery|tools)\/)?([\w-]+)/.exec(from)?.[1] ?? 'on-demand'
  return together[name] ?? name
}

/**
 * Tells the bundler, in each `import()` of a compiled module, where to put the imported code: each feature has a file, and what several of them
 * share has one, too.
 */
export const chunkImports = (text: string): string =>
  text.replaceAll(/\bimport\('([^']*)'\)/g, (whole, from: string) => {
    if (separate.has(from) || from.startsWith('node:')) return whole
    return `import(/* ${eager.has(from) ? 'webpackMode: "eager"' : `webpackChunkName: "${chunkOf(from)}"`} */ '${from}')`
  })
