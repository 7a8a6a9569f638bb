// `npm run generate` and its `--check`.
import { generate } from './reference/generate.ts'

const check = process.argv.includes('--check')
const stale = await generate(new URL('..', import.meta.url).pathname, check)
if (stale.length === 0) console.log('generated files are up to date')
else console.log(`${check ? 'not what `npm run generate` writes' : 'written'}: ${stale.join(', ')}`)
if (check && stale.length > 0) process.exitCode = 1
