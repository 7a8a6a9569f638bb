export interface DemoIds {
  /** 24 hexadecimal digits. The order of ids says nothing about the order of creation. */
  objectId(): string
  uuid(): string
}

export interface Ids extends DemoIds {
  reset(): void
}

// Odd, so that every count has its own id. Near the golden section, so that neighbors are far apart.
const factor = 0x9e3779b97f4a7c15f39cc061n

/** The same requests always get the same ids. */
export function createIds(): Ids {
  let objects = 0n
  let uuids = 0
  return {
    objectId: () => ((++objects * factor) % (1n << 96n)).toString(16).padStart(24, '0'),
    // Version and variant digits as in any random uuid: clients may check them.
    uuid: () => `${(++uuids).toString(16).padStart(8, '0')}-5eed-4000-8000-00000000c0de`,
    reset() {
      objects = 0n
      uuids = 0
    },
  }
}

/** Object ids of the demo data are counted, because examples and documentation contain them. */
export function createDemoIds({ uuid }: Ids): DemoIds {
  let objects = 0
  return { uuid, objectId: () => `65f5e4a35eedc0de00${(++objects).toString(16).padStart(6, '0')}` }
}

/** A 32-bit hash: FNV-1a with a final mix, so that similar texts get distant numbers. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}
