import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { embeddedPackages, readLock, shippedIn } from '../../scripts/shipped.ts'

const root = new URL('../..', import.meta.url).pathname
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')

const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Readonly<Record<string, string>> }
const lock = readLock()
const shipped = shippedIn(lock)
const nameOf = (path: string): string => path.split('node_modules/').at(-1) ?? ''
const shippedNames = new Set([...shipped.keys()].map(nameOf))

/** They ask for nothing but their notice, and are known to people who have to agree to them. */
const licenses = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Unlicense']

describe('what is shipped', () => {
  it('ships few packages, because each of them must be watched', () => {
    expect(Object.keys(dependencies).length).toBeLessThanOrEqual(10)
    expect(shipped.size).toBeGreaterThan(Object.keys(dependencies).length)
  })

  it('ships only packages whose licenses allow it', () => {
    expect([...shipped].flatMap(([path, { license = 'none' }]) => (licenses.includes(license) ? [] : [`${path}: ${license}`]))).toEqual([])
  })

  it('knows every package whose code is copied into a file of our own', () => {
    const copied = [...read('scripts/generate.ts').matchAll(/'node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//g)].map(([, name]) => name)
    expect([...new Set(copied)].sort()).toEqual([...embeddedPackages].sort())
  })
})

describe('package-lock.json', () => {
  it('package-lock.json has a checksum for every package, and takes none from anywhere but the registry', () => {
    const packages = Object.entries(lock.packages).filter(([path]) => path !== '')
    expect(packages.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity)).map(([path]) => path)).toEqual([])
    expect(packages.filter(([, { resolved }]) => resolved?.startsWith('https://registry.npmjs.org/') === false)).toEqual([])
  })
})

describe('dist/licenses.txt', () => {
  const text = read('dist/licenses.txt')
  /** A name alone in its line, then the license's, then the text. */
  const notices = new Map(
    [...text.matchAll(/^([@a-z][\w./-]*)\n([A-Z0-9][\w.-]*)\n([\s\S]*?)(?=\n\n[@a-z][\w./-]*\n[A-Z0-9][\w.-]*\n|$(?![\s\S]))/gm)].map(
      ([, name = '', license = '', notice = '']) => [name, { license, notice }],
    ),
  )

  it('holds the notice of everything that is shipped', () => {
    expect([...notices.keys()].sort()).toEqual([...shippedNames].sort())
  })

  it('dist/licenses.txt has the license that the package has, with its words', () => {
    for (const [name, { license, notice }] of notices) {
      expect(shipped.get(`node_modules/${name}`)?.license, name).toBe(license)
      expect(notice, name).toMatch(/permission|unencumbered/i)
      if (license !== 'Unlicense') expect(notice, name).toMatch(/copyright/i)
    }
  })
})
