import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { operationNames } from '../../../src/operations.ts'
import { runCliInside } from '../../support/run-cli-inside.ts'

const script = async (shell: string): Promise<string> => (await runCliInside(['completion', shell])).stdout

describe('shell completion', () => {
  it('completes commands, options and choices in bash', async () => {
    const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
      const test = `${await script('bash')}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _watchkeeper; printf '%s\\n' "\${COMPREPLY[@]}"`
      const { stdout, stderr } = spawnSync('bash', ['-c', test], { encoding: 'utf8' })
      expect(stderr).toBe('')
      return stdout.trim().split('\n')
    }
    expect(await complete('watchkeeper', 'usage')).toEqual(['usage-cost'])
    expect(await complete('watchkeeper', 'usage-cost', '--bud')).toEqual(['--budget', '--budgets'])
    expect(await complete('watchkeeper', 'usage-cost', '--profile', '')).toEqual(['clickhouse-cloud', 'hyperdx'])
    expect(await complete('watchkeeper', 'completion', 'b')).toEqual(['bash'])
  })

  it.each(['bash', 'zsh', 'fish'])('shell completion of %s has every operation', async (shell) => {
    const text = await script(shell)
    for (const name of operationNames) expect(text).toContain(name)
  })
})
