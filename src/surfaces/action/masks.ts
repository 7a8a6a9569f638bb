// Owns telling the runner what to hide. It comes before every other line: what is printed first is never masked afterwards.
import { setSecret } from '@actions/core'
import { formsOf } from '../../kernel/secrets.ts'

/** Every form by itself: the runner replaces texts, it does not know what they encode. */
export function mask(secrets: readonly string[], keyId: readonly string[]): void {
  for (const form of new Set([...secrets.flatMap(formsOf), ...keyId])) setSecret(form)
}
