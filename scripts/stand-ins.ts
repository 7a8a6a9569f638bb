// Replacements for files of packages that no run needs, but that every run would load together with the files it needs. Both bundles have
// them: the action's and the npm package's. The reasons are in docs/decisions/shipping.md.

const throws = (what: string): string => `function () { throw new Error(${JSON.stringify(`The bundle was built without ${what}.`)}) }`

/** Text by path under node_modules. A path that an update of its package takes away fails the build. */
export const standIns: Readonly<Record<string, string>> = {
  // OpenID Connect brings an HTTP client of its own, and all of undici with it.
  '@actions/core/lib/oidc-utils.js': `export const OidcClient = { getIDToken: ${throws('OpenID Connect')} }\n`,
  // Finds out about the machine by starting processes.
  '@actions/core/lib/platform.js': 'export {}\n',

  // Loads node:crypto. The action writes its outputs itself, and nothing for later steps.
  '@actions/core/lib/file-command.js': `export const issueFileCommand = ${throws('file commands')}\nexport const prepareKeyValueMessage = issueFileCommand\n`,

  // The stand-in for undici has an agent, its requests and, for proxies, their tunnels and what is behind the getters.
  'undici/index.js': `'use strict'
const Dispatcher = require('./lib/dispatcher/dispatcher')
Dispatcher.prototype.request = require('./lib/api/api-request')
Dispatcher.prototype.connect = require('./lib/api/api-connect')
module.exports.Agent = require('./lib/dispatcher/agent')
module.exports.fetch = ${throws("undici's fetch")}
Object.defineProperty(module.exports, 'EnvHttpProxyAgent', { get: () => require('./lib/dispatcher/env-http-proxy-agent') })
Object.defineProperty(module.exports, 'ProxyAgent', { get: () => require('./lib/dispatcher/proxy-agent') })
`,
  // Every connection is made with `allowH2: false`.
  'undici/lib/dispatcher/client-h2.js': `'use strict'\nmodule.exports = ${throws('HTTP/2')}\n`,
  // The experimental parser, chosen by an environment variable, is two more builds of WebAssembly.
  'undici/lib/dispatcher/parser-h1.js': `'use strict'\nmodule.exports.H1Parser = undefined\nmodule.exports.getMiloEnabled = () => false\n`,
  // The parser is there twice, and the other build runs on every machine. Together they were a tenth of the archive.
  'undici/lib/llhttp/llhttp_simd-wasm.js': `'use strict'\nmodule.exports = require('./llhttp-wasm.js')\n`,
  // Bodies are text, and never a form.
  'undici/lib/web/fetch/body.js': `'use strict'\nmodule.exports.extractBody = ${throws('web bodies')}\n`,
  'undici/lib/web/fetch/formdata.js': `'use strict'\n`,
  'undici/lib/web/webidl/index.js': `'use strict'\nmodule.exports.webidl = { is: { FormData: () => false } }\n`,
}

const processors =
  'aggregateChecks string number boolean bigint symbol null undefined void never any unknown date enum literal nan templateLiteral file success custom function transform map set array object union intersection tuple record nullable nonoptional default prefault catch pipe readonly promise optional lazy'
    .split(' ')
    .map((name) => (name === 'aggregateChecks' ? name : `${name}Processor`))

/** Stand-ins of the action's bundle. Only the command line makes JSON Schemas, for `watchkeeper schema`; they are 2% of the archive. */
export const actionStandIns: Readonly<Record<string, string>> = {
  ...standIns,
  'zod/v4/core/json-schema-processors.js': `const make = ${throws('JSON Schemas')}\nexport const allProcessors = {}\nexport { ${[...processors, 'toJSONSchema'].map((name) => `make as ${name}`).join(', ')} }\n`,
  'zod/v4/core/to-json-schema.js': `const make = ${throws('JSON Schemas')}\nexport { ${['initializeContext', 'handleUnrepresentable', 'processSchema', 'extractDefs', 'finalize'].map((name) => `make as ${name}`).join(', ')} }\nexport const createToJSONSchemaMethod = () => make\nexport const createStandardJSONSchemaMethod = () => make\n`,
}
