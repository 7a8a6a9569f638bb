import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { archiveName, completeRelease, currentPlatform, platforms, readChecksums, renderFormula } from '../../../scripts/release-files.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'watchkeeper-release-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
})

const writeArchives = (names: readonly string[] = platforms.map(archiveName)): void => {
  for (const name of names) writeFileSync(join(directory, name), `content of ${name}`)
}

describe('a release', () => {
  it('a release has an archive for each platform, the install script, the formula, and checksums of all of them', () => {
    writeArchives()
    completeRelease(directory, '1.2.3')
    const files = [...platforms.map(archiveName), 'install.sh', 'watchkeeper.rb']
    expect(readdirSync(directory).sort()).toEqual([...files, 'SHA256SUMS'].sort())
    const checked = execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: directory, encoding: 'utf8' })
    expect(checked.trim().split('\n').sort()).toEqual(files.map((name) => `${name}: OK`).sort())
  })

  it('a release is not completed without all archives', () => {
    writeArchives(platforms.map(archiveName).slice(1))
    expect(() => completeRelease(directory, '1.2.3')).toThrow('The release lacks watchkeeper-linux-x64.tar.gz.')
    expect(readdirSync(directory)).not.toContain('SHA256SUMS')
  })

  it('a release has an archive for the platform of this process', () => {
    expect(platforms).toContain(currentPlatform())
  })
})

describe('the Homebrew formula', () => {
  it('downloads the archive of each system and processor, with its checksum', () => {
    writeArchives()
    const checksums = readChecksums(directory)
    const formula = renderFormula('1.2.3', checksums)
    const downloads = [...formula.matchAll(/on_(\w+) do\n {6}url "(.*)"\n {6}sha256 "(.*)"/g)].map(([, on, url, sum]) => [on, url, sum])
    const expected = (processor: string, platform: 'macos-arm64' | 'macos-x64' | 'linux-arm64' | 'linux-x64') => {
      const name = archiveName(platform)
      return [processor, `https://github.com/watchkeeper/watchkeeper/releases/download/v1.2.3/${name}`, checksums.get(name)]
    }
    expect(downloads).toEqual([
      expected('arm', 'macos-arm64'),
      expected('intel', 'macos-x64'),
      expected('arm', 'linux-arm64'),
      expected('intel', 'linux-x64'),
    ])
    expect(formula).toContain('version "1.2.3"')
    // Homebrew's audit rejects longer descriptions.
    expect(/desc "(.*)"/.exec(formula)?.[1]?.length).toBeLessThanOrEqual(80)
  })

  it('the Homebrew formula is not written without a checksum', () => {
    expect(() => renderFormula('1.2.3', new Map())).toThrow('watchkeeper-macos-arm64.tar.gz is missing')
  })
})

it('the install script knows the platforms that are not Windows', () => {
  const script = readFileSync(new URL('../../../scripts/install.sh', import.meta.url), 'utf8')
  const [systems, processors] = ['system', 'processor'].map((name) =>
    [...script.matchAll(new RegExp(`${name}=(\\w+)`, 'g'))].map(([, value]) => value),
  )
  const known = (systems ?? []).flatMap((system) => (processors ?? []).map((processor) => `${system}-${processor}`))
  expect(known.sort()).toEqual(platforms.filter((platform) => !platform.startsWith('windows')).toSorted())
})
