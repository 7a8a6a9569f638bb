import { describe, expect, it } from 'vitest'
import type { Files } from '../../../../src/platform/operation/files.ts'
import { resolveProject } from '../../../../src/sync/declarations/find-declarations.ts'

const filesWith = (repository: string | undefined, storedObjects: string | undefined, above?: string): Files => ({
  read: async () => '',
  find: async () => ({ paths: [], skipped: [] }),
  variable: () => undefined,
  workflowRepository: repository,
  mayBeFromFork: async () => false,
  ranBy: {},
  secret: () => undefined,
  repository: async () => undefined,
  remoteRepository: async () => storedObjects,
  demandCheckout: async () => {},
  configAbove: async () => above,
})

describe('the project', () => {
  it('the project is the given one, before the repository of the workflow, before the remote of the clone', async () => {
    expect(await resolveProject('given', filesWith('env/repo', 'remote/repo'), 'write')).toEqual({ project: 'given', diagnostics: [] })
    expect(await resolveProject(undefined, filesWith('env/repo', 'remote/repo'), 'write')).toEqual({ project: 'env/repo', diagnostics: [] })
    expect(await resolveProject(undefined, filesWith(undefined, 'remote/repo'), 'read')).toMatchObject({
      project: 'remote/repo',
      diagnostics: [{ rule: 'inferred-project', severity: 'note' }],
    })
  })

  it.each([
    ['is never guessed by who writes', filesWith(undefined, 'remote/repo'), 'write', /^project: is missing; set project: remote\/repo/],
    ['is missing where nothing tells it', filesWith(undefined, undefined), 'read', /^project: is missing; set project: owner\/repo/],
    [
      'is missing in a directory below the config file, which is named',
      filesWith(undefined, undefined, '../.watchkeeper.yml'),
      'read',
      /^project: is missing; .*; \.\.\/\.watchkeeper\.yml is not read; run the command in its directory$/,
    ],
    [
      'is no variable that cannot be one',
      filesWith('a b', undefined),
      'read',
      /^project: "a b" \(from the repository of the run\) is not a valid project/,
    ],
    [
      'is no remote that cannot be one',
      filesWith(undefined, 'a b'),
      'read',
      /^project: "a b" \(from git remote origin\) is not a valid project/,
    ],
    [
      'is named up to its 60th character',
      filesWith('x '.repeat(100), undefined),
      'read',
      /^project: "(?:x ){30}… \(140 more characters\)" \(from the repository of the run\)/,
    ],
  ] as const)('the project %s', async (_, files, effect, message) => {
    await expect(resolveProject(undefined, files, effect)).rejects.toThrow(message)
  })
})
