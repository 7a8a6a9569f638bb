// Checks this month's cost against a budget.
// Exit code: 0 within the budget, 10 above it, 1 when the check was not possible.
//
//   node check-budget.ts 1000
import { ApiError, createClient, InputError } from 'watchkeeper'

const [budget = '1000'] = process.argv.slice(2)

// Address, key and organization come from variables of the process, such as WATCHKEEPER_API_KEY_SECRET.
const client = createClient({ variables: process.env })

try {
  const cost = await client.usageCost({ period: 'month-to-date', budget })
  console.log(`${cost.grandTotalCredits} of ${budget} ${cost.unit} used`)
  // A failed gate is a result, not an exception.
  if (cost.status === 'fail') {
    console.error(cost.failureReason)
    process.exitCode = 10
  }
} catch (error) {
  process.exitCode = 1
  if (error instanceof InputError) {
    // Everything that is wrong with the input, before any request.
    for (const { location, message } of error.diagnostics) console.error(`${location.file}: ${message}`)
  } else if (error instanceof ApiError) {
    // What failed, what to do, and which request it was.
    console.error(error.message)
  } else {
    throw error
  }
}
