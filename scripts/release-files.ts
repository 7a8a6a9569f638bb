// The files of a release beside the npm package: an archive with the executable for each platform, checksums, and the Homebrew formula.
//   node scripts/release-files.ts archive DIRECTORY   after build:executable, for the platform that it runs on
//   node scripts/release-files.ts complete DIRECTORY  when all archives are in the directory
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { readManifest } from './shipped.ts'

const root = join(import.meta.dirname, '..')

const repository = 'https://github.com/watchkeeper/watchkeeper'

/** The platforms of executables, as in the names of the archives. scripts/install.sh chooses one of them. */
export const platforms = ['linux-x64', 'linux-arm64', 'macos-x64', 'macos-arm64', 'windows-x64'] as const

type Platform = (typeof platforms)[number]

const systems: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'macos', win32: 'windows' }

/** The platform of this process. Throws where no executable is built. */
export function currentPlatform(): Platform {
  const name = `${systems[process.platform]}-${process.arch}`
  const platform = platforms.find((one) => one === name)
  if (platform === undefined) throw new Error(`There is no executable for ${name}.`)
  return platform
}

export const archiveName = (platform: Platform): string => `watchkeeper-${platform}${platform.startsWith('windows') ? '.zip' : '.tar.gz'}`

/** Writes the archive for this platform: the executable and the licenses. gzip, because every system can read it without another program. */
export async function writeArchive(directory: string): Promise<void> {
  // The job that completes a release has no packages.
  const { executableNotices, executablePath } = await import('./build-executable.ts')
  const staging = mkdtempSync(join(tmpdir(), 'watchkeeper-archive-'))
  try {
    copyFileSync(executablePath, join(staging, basename(executablePath)))
    copyFileSync(join(root, 'LICENSE'), join(staging, 'LICENSE'))
    writeFileSync(join(staging, 'licenses.txt'), executableNotices())
    const file = join(directory, archiveName(currentPlatform()))
    const names = readdirSync(staging)
    if (file.endsWith('.zip')) {
      // The tar of Windows, which writes zip files. The one of Git for Windows does not.
      execFileSync(`${process.env.SystemRoot}\\System32\\tar.exe`, ['-a', '-c', '-f', file, ...names], { cwd: staging })
      return
    }
    const tar = execFileSync('tar', ['--format=ustar', '-c', '-f', '-', ...names], {
      cwd: staging,
      maxBuffer: 1024 ** 3,
      // The variable keeps attributes of macOS from becoming additional files.
      env: { ...process.env, COPYFILE_DISABLE: '1' },
    })
    writeFileSync(file, gzipSync(tar, { level: 9 }))
  } finally {
    rmSync(staging, { recursive: true })
  }
}

/** SHA-256 by file name. */
type Checksums = ReadonlyMap<string, string>

export const readChecksums = (directory: string): Checksums =>
  new Map(
    readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .sort()
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(directory, name)))
          .digest('hex'),
      ]),
  )

/** What `sha256sum --check` reads. */
export const renderChecksums = (checksums: Checksums): string => [...checksums].map(([name, sum]) => `${sum}  ${name}\n`).join('')

/** Throws when an archive is missing. */
export function renderFormula(version: string, checksums: Checksums): string {
  const download = (platform: Platform): string => {
    const name = archiveName(platform)
    const sum = checksums.get(name)
    if (sum === undefined) throw new Error(`${name} is missing, so there can be no formula.`)
    return `      url "${repository}/releases/download/v${version}/${name}"\n      sha256 "${sum}"`
  }
  return `class Watchkeeper < Formula
  desc "Alerts and dashboards as code, cost gate and backup checks for ClickHouse"
  homepage "${repository}"
  version "${version}"
  license "Apache-2.0"

  on_macos do
    on_arm do
${download('macos-arm64')}
    end
    on_intel do
${download('macos-x64')}
    end
  end

  on_linux do
    on_arm do
${download('linux-arm64')}
    end
    on_intel do
${download('linux-x64')}
    end
  end

  def install
    bin.install "watchkeeper"
    doc.install "licenses.txt"
    generate_completions_from_executable(bin/"watchkeeper", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/watchkeeper --version")
  end
end
`
}

/** Adds what the archives do not contain: the install script, the formula and the checksums. Throws when an archive is missing. */
export function completeRelease(directory: string, version: string): void {
  const missing = platforms.map(archiveName).filter((name) => !readdirSync(directory).includes(name))
  if (missing.length > 0) throw new Error(`The release lacks ${missing.join(', ')}.`)
  copyFileSync(join(root, 'scripts/install.sh'), join(directory, 'install.sh'))
  writeFileSync(join(directory, 'watchkeeper.rb'), renderFormula(version, readChecksums(directory)))
  writeFileSync(join(directory, 'SHA256SUMS'), renderChecksums(readChecksums(directory)))
}

if (import.meta.main) {
  const [command, given = ''] = process.argv.slice(2)
  const directory = resolve(given)
  mkdirSync(directory, { recursive: true })
  const { version } = readManifest()
  if (command === 'archive') await writeArchive(directory)
  else if (command === 'complete') completeRelease(directory, version)
  else throw new Error('Use: node scripts/release-files.ts archive|complete DIRECTORY')
}
