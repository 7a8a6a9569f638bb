// Plans the alerts and dashboards of `observability/**`, and prints what `apply` would change. It changes nothing.
// Exit code: 0 for a valid plan, 2 without a project, 1 for anything else.
//
//   node plan-files.ts owner/repo
import { ApiError, createClient, InputError } from 'watchkeeper'

const [project] = process.argv.slice(2)
if (project === undefined) {
  console.error('Usage: node plan-files.ts owner/repo')
  process.exit(2)
}

// Address, key, organization and service come from variables of the process, such as WATCHKEEPER_API_KEY_SECRET.
const client = createClient({ variables: process.env })

const show = (value: unknown): string => (value === undefined ? '(none)' : JSON.stringify(value))

try {
  const plan = await client.plan({ project })
  for (const { action, kind, key, fields } of plan.objects) {
    if (action === 'unchanged') continue
    console.log(`${action} ${kind} ${key}`)
    for (const { path, before, after } of fields) console.log(`  ${path}: ${show(before)} → ${show(after)}`)
  }
  console.log(`${plan.toCreate} to create, ${plan.toUpdate} to update, ${plan.toDelete} to delete, ${plan.unchanged} unchanged`)
  // An error in a file is a result, not an exception. The plan lists all errors with file and line.
  for (const { severity, location, message } of plan.diagnostics)
    console.error(`${severity} ${location.file}:${location.line ?? 1}: ${message}`)
  if (plan.status === 'fail') process.exitCode = 1
} catch (error) {
  process.exitCode = 1
  if (error instanceof InputError || error instanceof ApiError) console.error(error.message)
  else throw error
}
