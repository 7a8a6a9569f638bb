/**
 * Whether the product takes a text for an id: 24 hexadecimal digits, or any 12 characters of one byte each, which its database driver
 * reads as the bytes of an id.
 */
export const isObjectId = (text: string): boolean => /^[0-9a-f]{24}$/i.test(text) || (text.length === 12 && Buffer.byteLength(text) === 12)

/** The form in which ids are stored and answered. Only for texts that `isObjectId` accepts. */
export const toObjectId = (text: string): string => (text.length === 12 ? Buffer.from(text).toString('hex') : text.toLowerCase())

interface Identified {
  readonly id: string
}

export const findById = <T extends Identified>(items: readonly T[], id: string): T | undefined => {
  if (!isObjectId(id)) return items.find((item) => item.id === id)
  const wanted = toObjectId(id)
  return items.find((item) => item.id.toLowerCase() === wanted)
}

export function removeById<T extends Identified>(items: T[], id: string): T | undefined {
  const item = findById(items, id)
  if (item !== undefined) items.splice(items.indexOf(item), 1)
  return item
}

/** The product pages by id; here ids do not follow the order of creation, so that no client relies on it. */
export const byId = (a: Identified, b: Identified): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
