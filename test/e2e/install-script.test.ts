// scripts/install.sh against a local copy of the release layout. the project `executable` does the same with the real executable.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { archiveName, currentPlatform, readChecksums, renderChecksums } from '../../scripts/release-files.ts'
import { createCertificate } from '../support/certificates.ts'
import { forEachEntry } from '../support/corpus.ts'

const script = new URL('../../scripts/install.sh', import.meta.url).pathname
const archive = archiveName(currentPlatform())

/** Every program that the script uses, with one of curl and wget. */
const programs = ['sh', 'cat', 'chmod', 'gzip', 'mkdir', 'mktemp', 'mv', 'rm', 'sha256sum', 'tar', 'uname']

let directory: string
let releases: string
/** Answers in place of the file, by URL. */
const answers = new Map<string, 'nothing' | Buffer>()
const server = createServer((request, response) => {
  const url = request.url ?? ''
  const answer = answers.get(url)
  if (answer === 'nothing') return
  try {
    response.end(answer ?? readFileSync(join(releases, url)))
  } catch {
    response.writeHead(404).end()
  }
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => void server.close())
const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'watchkeeper-install-'))
  releases = join(directory, 'releases')
  for (const name of ['home', 'temporary', 'bin']) mkdirSync(join(directory, name))
  answers.clear()
  onTestFinished(() => rmSync(directory, { recursive: true }))
})

/** A release whose executable is a script. */
function publish(version: string, executable = `#!/bin/sh\necho ${version}\n`): string {
  const place = join(releases, `download/v${version}`)
  mkdirSync(place, { recursive: true })
  writeFileSync(join(directory, 'watchkeeper'), executable, { mode: 0o755 })
  execFileSync('tar', ['-czf', join(place, archive), '-C', directory, 'watchkeeper'])
  writeFileSync(join(place, 'SHA256SUMS'), renderChecksums(readChecksums(place)))
  return place
}

interface Options {
  readonly input?: string
  /** Programs in PATH beside those that the script always uses. */
  readonly tools?: readonly string[]
  readonly shell?: string
  /** Runs in a process group of its own. */
  readonly onStart?: (child: ChildProcess) => void
}

/** Runs the script with a PATH of a few programs. */
function install(args: readonly string[], { input, tools = ['curl'], shell = 'sh', onStart }: Options = {}) {
  const bin = join(directory, 'bin')
  for (const program of [...programs, ...tools, shell]) {
    const path = execFileSync('sh', ['-c', 'command -v "$1"', 'sh', program], { encoding: 'utf8' }).trim()
    if (!readdirSync(bin).includes(program)) symlinkSync(path, join(bin, program))
  }
  const child = spawn(join(bin, shell), [...(input === undefined ? [script] : ['-s', '--']), '--from', address(), ...args], {
    detached: onStart !== undefined,
    env: { PATH: bin, HOME: join(directory, 'home'), TMPDIR: join(directory, 'temporary') },
  })
  // A shell that ended early reads no more.
  child.stdin.on('error', () => undefined).end(input ?? '')
  onStart?.(child)
  const said = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text))
  return new Promise<typeof said & { exitCode: number | null }>((resolve) => {
    child.on('close', (exitCode) => resolve({ exitCode, ...said }))
  })
}

const target = (): string => join(directory, 'target')

/** An earlier version is installed. */
const installOld = (): void => {
  mkdirSync(target())
  writeFileSync(join(target(), 'watchkeeper'), 'old\n')
}

/** What is in the directory of the earlier version, and in the one for temporary files. */
const readState = () => ({
  installed: readdirSync(target()),
  text: readFileSync(join(target(), 'watchkeeper'), 'utf8'),
  temporary: readdirSync(join(directory, 'temporary')),
})

const unchanged = { installed: ['watchkeeper'], text: 'old\n', temporary: [] }

const addProgram = (name: string, text: string): void => writeFileSync(join(directory, 'bin', name), `#!/bin/sh\n${text}`, { mode: 0o755 })

/** Of a version that knows the options. */
const help = 'case $* in *--help) echo "--source-ref string"; exit ;; esac'

const addGh = (text: string): void => addProgram('gh', `${help}\n${text}\n`)

describe('scripts/install.sh', () => {
  it.each(['sh', 'bash'])('installs its own release to ~/.local/bin with %s, and leaves nothing else', async (shell) => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
    publish(version)
    const ran = await install([], { shell, input: readFileSync(script, 'utf8') })
    const path = join(directory, 'home/.local/bin/watchkeeper')
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).toContain('The checksum is correct.\n')
    expect(ran.stdout).toContain(
      'The attestation was not verified, because the GitHub CLI (gh) is not installed, too old or not logged in.\n',
    )
    expect(ran.stdout).toContain(`Installed watchkeeper ${version} to ${path}\n`)
    expect(ran.stdout).toContain('.local/bin is not in PATH.')
    expect(execFileSync(path, { encoding: 'utf8' })).toBe(`${version}\n`)
    expect(readdirSync(join(directory, 'home/.local/bin'))).toEqual(['watchkeeper'])
    expect(readdirSync(join(directory, 'temporary'))).toEqual([])
  })

  it('replaces an earlier version, with wget where curl is missing', async () => {
    publish('1.2.3')
    installOld()
    expect(await install(['--version', 'v1.2.3', '--to', target()], { tools: ['wget'] })).toMatchObject({ exitCode: 0, stderr: '' })
    expect(execFileSync(join(target(), 'watchkeeper'), { encoding: 'utf8' })).toBe('1.2.3\n')
    expect(readdirSync(target())).toEqual(['watchkeeper'])
  })

  it.each([
    ['curl', '.curlrc', 'cacert='],
    ['wget', '.wgetrc', 'ca_certificate='],
  ])('follows no redirect from https to http with %s', async (tool, configuration, option) => {
    publish('1.2.3')
    const certificate = createCertificate({ addresses: ['127.0.0.1'] })
    const redirects = createTlsServer(certificate, ({ url }, response) => response.writeHead(302, { location: `${address()}${url}` }).end())
    await new Promise<void>((resolve) => redirects.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void redirects.close())
    writeFileSync(join(directory, 'ca.pem'), certificate.cert)
    writeFileSync(join(directory, 'home', configuration), `${option}${join(directory, 'ca.pem')}\n`)
    const from = `https://127.0.0.1:${(redirects.address() as AddressInfo).port}`
    const ran = await install(['--version', '1.2.3', '--to', target(), '--from', from], { tools: [tool] })
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`Cannot download ${from}/download/v1.2.3/SHA256SUMS.`) })
  })

  it('refuses a release that is not as it should be, and keeps the earlier version', () =>
    forEachEntry<readonly [string, (place: string) => void, string]>(
      [
        ['a byte of the archive differs', (place) => flipByte(join(place, archive)), 'The checksum of '],
        ['half of the archive is missing', (place) => cutFile(join(place, archive)), 'The checksum of '],
        ['the archive is missing', (place) => rmSync(join(place, archive)), 'Cannot download '],
        ['the checksums are missing', (place) => rmSync(join(place, 'SHA256SUMS')), 'Cannot download '],
        ['the checksums are empty', (place) => writeFileSync(join(place, 'SHA256SUMS'), ''), 'does not list '],
        [
          'the checksums are those of other files',
          (place) => writeFileSync(join(place, 'SHA256SUMS'), `${'0'.repeat(64)}  ${archive}.old\n`),
          'does not list ',
        ],
        ['the executable has another version', () => publish('1.2.3', '#!/bin/sh\necho 1.2.2\n'), 'has version 1.2.2, not 1.2.3'],
        ['the executable does not run', () => publish('1.2.3', '#!/bin/sh\nexit 127\n'), 'does not run on this system'],
        ['the executable cannot be loaded', () => publish('1.2.3', '#!/nowhere/ld\n'), 'does not run on this system'],
      ],
      async (_, damage, reason) => {
        rmSync(target(), { recursive: true, force: true })
        installOld()
        damage(publish('1.2.3'))
        const ran = await install(['--version', '1.2.3', '--to', target()])
        expect(ran.exitCode).toBe(1)
        expect(ran.stderr).toContain(reason)
        expect(readState()).toEqual(unchanged)
      },
    ))

  it('verifies the attestation where gh is logged in, with the workflow and the tag', async () => {
    publish('1.2.3')
    addGh(`echo "$*" >> "${directory}/gh.log"`)
    const ran = await install(['--version', '1.2.3', '--to', target()])
    expect(ran.stdout).toContain('The attestation is correct: the release workflow built this file.\n')
    expect(readFileSync(join(directory, 'gh.log'), 'utf8')).toMatch(
      new RegExp(
        `^attestation verify \\S+/${RegExp.escape(archive)} --repo watchkeeper/watchkeeper --signer-workflow watchkeeper/watchkeeper/\\.github/workflows/release\\.yml --source-ref refs/tags/v1\\.2\\.3$`,
        'm',
      ),
    )
  })

  it('refuses a file without a correct attestation', async () => {
    publish('1.2.3')
    installOld()
    addGh('[ "$1" != attestation ] || { echo "no matching attestations" >&2; exit 1; }')
    const ran = await install(['--version', '1.2.3', '--to', target()])
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no matching attestations\n') })
    expect(ran.stderr).toContain('could not be verified. Nothing was installed.')
    expect(readState()).toEqual(unchanged)
  })

  it.each([
    ['is not installed', undefined],
    ['is not logged in', `${help}\n[ "$1" != auth ]\n`],
    ['is too old for attestations', 'exit 1\n'],
    ['is too old for the option of the tag', '[ "$1" = auth ] || echo "--signer-workflow"\n'],
  ])('installs nothing with --require-attestation when gh %s', async (_, gh) => {
    publish('1.2.3')
    installOld()
    if (gh !== undefined) addProgram('gh', gh)
    const ran = await install(['--version', '1.2.3', '--to', target(), '--require-attestation'])
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Nothing was installed.') })
    expect(readState()).toEqual(unchanged)
  })

  it('leaves nothing behind when it is stopped during a download', async () => {
    publish('1.2.3')
    installOld()
    answers.set(`/download/v1.2.3/${archive}`, 'nothing')
    const stopAtDownload = (child: ChildProcess): void => {
      const stop = (request: IncomingMessage): void => {
        if (!request.url?.endsWith(archive)) return
        server.off('request', stop)
        // As a terminal does: to the script and to the program that it waits for.
        process.kill(-(child.pid ?? 0), 'SIGTERM')
      }
      server.on('request', stop)
    }
    const ran = await install(['--version', '1.2.3', '--to', target()], { onStart: stopAtDownload })
    expect(ran.exitCode).toBe(143)
    expect(readState()).toEqual(unchanged)
  })

  it('does nothing when only a part of it arrived', () => {
    const text = readFileSync(script, 'utf8')
    const lines = text.split('\n')
    const parts = lines.map((_, i) => lines.slice(0, i).join('\n')).filter((_, i) => i % 16 === 0 || i > lines.length - 4)
    publish('1.2.3')
    return forEachEntry(
      parts.filter((part) => part !== text.trimEnd()),
      async (part) => {
        const ran = await install(['--version', '1.2.3', '--to', target()], { input: part })
        expect(ran.stdout).toBe('')
        expect(readdirSync(directory)).not.toContain('target')
      },
    )
  })

  it('rejects options that it cannot act on, before it downloads', () =>
    forEachEntry<readonly [readonly string[], string]>(
      [
        [['--verison', '1.2.3'], 'Unknown option --verison.'],
        [['--version'], '--version needs a value.'],
        [['--version', 'latest'], '--version: latest is not a version such as 1.2.3.'],
        [['--version', '1.2/../../x.3'], 'is not a version such as 1.2.3.'],
        [['--from', 'http://releases.example'], '--from: http://releases.example is not an https address.'],
        [['--from', 'http://127.0.0.1.example:80'], 'is not an https address.'],
        [['--from', 'https://github.com@releases.example'], '--from: the address must not have a user'],
        [['--from', 'http://127.0.0.1:80@releases.example'], '--from: the address must not have a user'],
      ],
      async (args, reason) => {
        const ran = await install(args)
        expect(ran).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(reason) })
      },
    ))

  it('names the option for a directory that it cannot write to', async () => {
    publish('1.2.3')
    writeFileSync(join(directory, 'file'), '')
    const ran = await install(['--version', '1.2.3', '--to', join(directory, 'file/bin')])
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr).toContain('with --to. This script does not use sudo.')
  })
})

function flipByte(path: string): void {
  const bytes = readFileSync(path)
  bytes[20] = (bytes[20] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

function cutFile(path: string): void {
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.subarray(0, bytes.length / 2))
}
