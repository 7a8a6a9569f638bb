// Owns which kits are meant: by names on the command line, or by an answer on a terminal.
import { createInterface } from 'node:readline/promises'
import { InputError, type Problem } from '../../kernel/errors.ts'
import { didYouMean } from '../../kernel/names.ts'
import { quote } from '../../kernel/text.ts'
import { type Kit, kits } from './init-kits.ts'

const names = kits.map(({ name }) => name)

/** Kits in the order of the list, or what is wrong with the words. A number is the place in the list. */
export function kitsMeantBy(words: readonly string[]): { readonly chosen: readonly Kit[]; readonly problems: readonly Problem[] } {
  const meant = words.map((word) => ({
    word,
    kit: /^\d{1,2}$/.test(word) ? kits[Number(word) - 1] : kits.find(({ name }) => name === word),
  }))
  const problems = meant.flatMap(({ word, kit }) =>
    kit === undefined ? [{ name: quote(word, 40), message: `is no kit; there are: ${names.join(', ')}${didYouMean(word, names)}` }] : [],
  )
  return { chosen: kits.filter((kit) => meant.some((one) => one.kit === kit)), problems }
}

/** Throws an InputError that lists all words that mean nothing. */
export function demandKits(words: readonly string[]): readonly Kit[] {
  const { chosen, problems } = kitsMeantBy(words)
  if (problems.length > 0) throw new InputError(problems)
  return chosen
}

const question = 'Which ones? Numbers or names with spaces between them, Enter for none: '

/** Asks until the answer means something; undefined when the input ends before that. */
export async function askForKits(input: NodeJS.ReadableStream, write: (text: string) => void): Promise<readonly Kit[] | undefined> {
  const lines = createInterface({ input })
  write(question)
  try {
    for await (const line of lines) {
      const { chosen, problems } = kitsMeantBy(line.split(/[\s,]+/).filter((word) => word !== ''))
      if (problems.length === 0) return chosen
      write(`${problems.map(({ name, message }) => `${name} ${message}`).join('\n')}\n${question}`)
    }
    return undefined
  } finally {
    lines.close()
  }
}
