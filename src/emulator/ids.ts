// Owns the ids that the server gives out: counted, not random, so that the same requests always get the same ids.

export interface Ids {
  /** 24 hexadecimal digits, as the database behind the observability resources makes them. */
  objectId(): string
  uuid(): string
  reset(): void
}

export function createIds(): Ids {
  let objects = 0
  let uuids = 0
  const hex = (count: number, digits: number): string => count.toString(16).padStart(digits, '0')
  return {
    objectId: () => `65f5e4a35eedc0de00${hex(++objects, 6)}`,
    // Version and variant digits as in any random uuid: clients may check them.
    uuid: () => `${hex(++uuids, 8)}-5eed-4000-8000-00000000c0de`,
    reset() {
      objects = 0
      uuids = 0
    },
  }
}

export const isObjectId = (text: string): boolean => /^[0-9a-f]{24}$/i.test(text)
