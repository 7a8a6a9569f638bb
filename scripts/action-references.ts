// References that documents and examples repeat: the pins of other projects' actions, the major tag of this one, and the version of its package.
// The pins have one source, our own workflows, because Dependabot updates them there. `npm run generate` copies them.
import { readManifest } from './shipped.ts'

const { version } = readManifest()

/** The tag that moves with every release, such as `v0` for 0.1.0. */
export const majorTag = `v${version.split('.')[0]}`

/** The tag of the release of this version. It never moves. */
export const releaseTag = `v${version}`

/** `actions/checkout` → `<commit> # <version>` */
export type Pins = ReadonlyMap<string, string>

/** Actions that only documents use, so that no workflow has their pins. */
const documentedPins: Pins = new Map([['slackapi/slack-github-action', '91efab103c0de0a537f72a35f6b8cda0ee76bf0a # v2.1.1']])

const ownAction = 'watchkeeper/watchkeeper'

/** A workflow that other repositories call. */
const isReusable = (file: string): boolean => /^\.github\/workflows\/reusable-[^/]+$/.test(file)

const pinned = /uses: ([\w.-]+\/[\w.-]+)(?:\/[\w./-]+)?@([0-9a-f]{40} # v[\w.-]+)/g

/** Throws when two workflows pin one action to different commits. */
export function readPins(workflows: readonly string[]): Pins {
  const pins = new Map<string, string>()
  for (const [, action = '', pin = ''] of workflows.flatMap((text) => [...text.matchAll(pinned)])) {
    const other = pins.get(action) ?? pin
    if (other !== pin) throw new Error(`.github/workflows pins ${action} to two versions: ${other} and ${pin}`)
    pins.set(action, pin)
  }
  return pins
}

/**
 * Sets the pin of every action that a text uses, and the tag of this one: the release in reusable workflows, so that a call at a tag or a
 * commit runs one version, and the major tag elsewhere. Images and `npx` have the version. Throws when no workflow pins an action.
 */
export function updateReferences(text: string, pins: Pins, file: string): string {
  return text
    .replaceAll(/(uses: ([\w.-]+\/[\w.-]+)(?:\/[\w./-]+)?)@[^\s`]+(?: # v[\w.-]+)?/g, (use: string, path: string, action: string) => {
      if (action === ownAction) return use
      const pin = pins.get(action) ?? documentedPins.get(action)
      if (pin === undefined) throw new Error(`${file} uses ${action}, which no workflow in .github/workflows pins`)
      return `${path}@${pin}`
    })
    .replaceAll(/(watchkeeper\/watchkeeper(?:\/[\w./-]+)?[@/])v\d+(?!\.\d|[\w-])/g, `$1${majorTag}`)
    .replaceAll(/(\bghcr\.io\/watchkeeper\/watchkeeper:)\d+\.\d+\.\d+(?:-[\w.]+)?/g, `$1${version}`)
    .replaceAll(/(uses: watchkeeper\/watchkeeper@)v[\w.-]+$/gm, (use, before) => (isReusable(file) ? `${before}${releaseTag}` : use))
    .replaceAll(/\b(npx --yes watchkeeper@)\d[\w.-]*/g, `$1${version}`)
}
