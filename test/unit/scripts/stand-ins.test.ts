import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { standIn } from '../../../scripts/staging.ts'
import { actionStandIns } from '../../../scripts/stand-ins.ts'

const root = new URL('../../..', import.meta.url).pathname

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'watchkeeper-stand-ins-'))
  for (const path of Object.keys(actionStandIns)) cpSync(join(root, 'node_modules', path), join(directory, 'node_modules', path))
})
afterEach(() => rmSync(directory, { recursive: true }))

const read = (path: string): string => readFileSync(join(directory, 'node_modules', path), 'utf8')

describe('what stands in the bundle instead of files that no run needs', () => {
  it('takes the place of files that the packages have', () => {
    standIn(directory)
    expect(Object.keys(actionStandIns).filter((path) => read(path) !== actionStandIns[path])).toEqual([])
  })

  it.each(Object.keys(actionStandIns))('a stand-in is an error when an update took %s away', (path) => {
    rmSync(join(directory, 'node_modules', path))
    expect(() => standIn(directory)).toThrow(path)
  })

  it('a stand-in is an error when an update brought a second copy of a package', () => {
    const nested = join(directory, 'node_modules/@actions/http-client/node_modules/undici')
    mkdirSync(nested, { recursive: true })
    writeFileSync(join(nested, 'index.js'), '')
    expect(() => standIn(directory)).toThrow('of which there are several')
  })

  it('leaves every other file alone', () => {
    mkdirSync(join(directory, 'node_modules/undici/lib/api'), { recursive: true })
    writeFileSync(join(directory, 'node_modules/undici/lib/api/api-request.js'), 'untouched')
    standIn(directory)
    expect(read('undici/lib/api/api-request.js')).toBe('untouched')
  })
})
