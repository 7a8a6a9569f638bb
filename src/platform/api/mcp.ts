// Tools of a self-hosted server, beside its API. Recorded on HyperDX 2.36.
import * as z from 'zod'
import { ApiError } from './api-error.ts'
import type { ApiRequest, Call } from './call.ts'
import { path } from './path.ts'
import { mismatchAt, type Reader } from './wire.ts'

export const patchToolName = 'clickstack_patch_dashboard'

const toolRequest = (method: 'tools/call' | 'tools/list', params: object) =>
  ({ method: 'POST', path: path`/mcp`, isTool: true, body: { jsonrpc: '2.0', id: 1, method, params } }) as const

/** Counts as a write, unless the caller adds `isSafe`. */
export const callTool = (name: string, given: object): ApiRequest & { readonly method: 'POST' } =>
  toolRequest('tools/call', { name, arguments: given })

const toolAnswer = z.looseObject({
  result: z.looseObject({
    content: z.array(z.looseObject({ text: z.string() })).min(1),
    isError: z.boolean().optional(),
  }),
})

export const readTool =
  <T>(read: (text: string, isError: boolean) => ReturnType<Reader<T>>): Reader<T> =>
  (json) => {
    const parsed = toolAnswer.safeParse(json)
    if (!parsed.success) return mismatchAt('', [], 'is not that of a tool')
    const { content, isError = false } = parsed.data.result
    return read(content[0]?.text ?? '', isError)
  }

export async function findPatchTool(read: (call: Call<boolean>) => Promise<boolean>): Promise<boolean> {
  try {
    return await read({
      request: { ...toolRequest('tools/list', {}), isSafe: true },
      read(json) {
        const parsed = z.looseObject({ result: z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) }) }).safeParse(json)
        if (!parsed.success) return mismatchAt('', [], 'is not a list of tools')
        return { value: parsed.data.result.tools.some(({ name }) => name === patchToolName) }
      },
      about: { noun: 'tool', permission: 'observability' },
    })
  } catch (thrown) {
    if (thrown instanceof ApiError && ['not-served', 'not-found', 'permission', 'refused', 'bad-answer', 'redirect'].includes(thrown.kind))
      return false
    throw thrown
  }
}
