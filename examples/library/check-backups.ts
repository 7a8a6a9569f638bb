// Checks the backups of several services, and prints one line for each.
// Exit code: 0 when all services have a fresh backup, 10 when one has none, 2 without a service,
// 1 when the check was not possible.
//
//   node check-backups.ts SERVICE_ID …
import { createClient, WatchkeeperError } from 'watchkeeper'

const services = process.argv.slice(2)
if (services.length === 0) {
  console.error('Usage: node check-backups.ts SERVICE_ID …')
  process.exit(2)
}

// Address, key and organization come from variables of the process, such as WATCHKEEPER_API_KEY_SECRET.
const client = createClient({
  variables: process.env,
  // A line for each retry and each wait for the rate limit.
  onProgress: (line) => console.error(line),
})

try {
  const result = await client.checkBackups({ services, maxAgeHours: 26 })
  for (const { serviceId, outcome, ageHours, failure } of result.services) {
    const age = ageHours === undefined ? '' : `, ${ageHours} hours old`
    console.log(`${serviceId}: ${outcome}${age}`)
    // A service that cannot be read has the outcome `unknown`. The others are still checked.
    if (failure !== undefined) console.error(failure.message)
  }
  if (result.status === 'fail') process.exitCode = 10
} catch (error) {
  // The base class of InputError and ApiError. `kind` is stable, for code that reacts to it; the message is for people.
  if (!(error instanceof WatchkeeperError)) throw error
  console.error(`${error.kind}: ${error.message}`)
  process.exitCode = 1
}
