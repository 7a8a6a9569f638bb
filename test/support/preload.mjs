// Runs inside a child before the program does: moves its clock, loads its dice, breaks a builtin, and says at its end how it ended.
// The program is untouched; what it asks the platform for is not. See `Preload` in preload.ts.
import { readFileSync, writeFileSync } from 'node:fs'

const { startAt, standsStill = false, luck = 0, crash, breaks, reportTo } = JSON.parse(process.env.TEST_PRELOAD ?? '{}')

// Full jitter times zero: a retry waits for nothing unless the server says so.
Math.random = () => luck

const shiftMs = startAt === undefined ? 0 : Date.parse(startAt) - Date.now()
const PlatformDate = Date
const now = standsStill ? () => Date.parse(startAt) : () => PlatformDate.now() + shiftMs
globalThis.Date = class extends PlatformDate {
  constructor(...given) {
    super(...(given.length === 0 ? [now()] : given))
  }
  static now = now
}

if (crash !== undefined)
  process.on(crash.at, () => {
    throw new Error(crash.message)
  })

let hasSpoken = false
const write = process.stdout.write
process.stdout.write = function (...given) {
  hasSpoken = true
  return Reflect.apply(write, this, given)
}

if (breaks !== undefined) {
  const names = breaks.builtin.split('.')
  const last = names.pop()
  const holder = names.reduce((value, name) => value[name], globalThis)
  const whole = holder[last]
  let calls = 0
  holder[last] = function (...given) {
    const counts = breaks.afterFirstWord !== true || hasSpoken
    if (counts) calls += 1
    if (counts && calls === breaks.atCall) throw new Error('broken on purpose')
    return new.target ? Reflect.construct(whole, given) : Reflect.apply(whole, this, given)
  }
  holder[last].prototype = whole.prototype
}

if (reportTo !== undefined) {
  // Not resourceUsage().maxRSS: it counts the memory of the process that started this one, up to the exec.
  const peakMegabytes = () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
  const report = (code) => ({
    code,
    peakMegabytes: peakMegabytes(),
    resources: process.getActiveResourcesInfo(),
    arguments: readFileSync('/proc/self/cmdline', 'utf8'),
  })
  process.on('exit', (code) => writeFileSync(reportTo, JSON.stringify(report(code))))
}
