// Owns the keys and file names of objects that get one: made of their names, and of nothing that a file system or a file of
// declarations minds.
import { keyGrammar } from '../marker.ts'

/** Room for a number behind it. */
const longestSlug = 55

/** Small letters, digits and dashes; empty where the name has neither letters nor digits of ASCII. */
export const slugOf = (name: string): string =>
  name
    .slice(0, 500)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, longestSlug)
    .replace(/^-+|-+$/g, '')

export interface Named {
  readonly name: string
  readonly id: string
  /** What it is when its name says nothing. */
  readonly noun: string
}

/** A key that is not taken yet, and takes it. */
export function takeKey({ name, id, noun }: Named, taken: Set<string>): string {
  // The last characters of an id are what tells it from its neighbours.
  const slug = slugOf(name) || slugOf(`${noun} ${id.slice(-6)}`)
  let key = slug
  for (let i = 2; taken.has(key) || !keyGrammar.test(key); i++) key = `${slug}-${i}`
  taken.add(key)
  return key
}

/** Names that some systems keep for devices, whatever comes after the dot. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)$/

/** Of the file for the object of this key; without an ending. */
export const fileNameFor = (key: string): string => {
  const name = key.replace(/\.+/g, '-')
  return deviceName.test(name) ? `${name}-` : name
}
