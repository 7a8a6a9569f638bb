import type { ProfileName } from '../../../api/profiles.ts'
import type { Diagnostic } from '../../../core/diagnostics.ts'
import { quote } from '../../../core/text.ts'
import type { Answer, Asker } from '../questions.ts'
import { defaultProfile, type Kit, kitList, selectKits } from './kits.ts'

/** What to write, and for which profile. */
export interface Choice {
  readonly profile: ProfileName
  readonly chosen: readonly Kit[]
}

const profileQuestion = (standard: ProfileName): string =>
  `ClickHouse Cloud or self-hosted? Enter 1 for the cloud or 2 for a server of your own, or press Enter for ${standard === 'hyperdx' ? 'your own server' : 'the cloud'}: `

const profileWords: Readonly<Record<string, ProfileName>> = {
  '1': 'clickhouse-cloud',
  'clickhouse-cloud': 'clickhouse-cloud',
  '2': 'hyperdx',
  hyperdx: 'hyperdx',
}

const kitQuestion = 'Which kits? Enter numbers or names separated by spaces, or press Enter for none: '

interface KnownProfiles {
  /** Without a question. */
  readonly given?: ProfileName | undefined
  /** The answer when the person presses Enter. */
  readonly fromEnvironment?: ProfileName | undefined
}

/** Undefined when the input ends before the last answer. */
export async function askForChoice(
  asker: Asker,
  write: (text: string) => void,
  { given, fromEnvironment = defaultProfile }: KnownProfiles,
): Promise<Choice | undefined> {
  const profile = given ?? (await asker.ask(profileQuestion(fromEnvironment), (line) => readProfile(line, fromEnvironment)))
  if (profile === undefined) return undefined
  write(`${kitList(profile)}\n`)
  const chosen = await asker.ask(kitQuestion, (line) => {
    const { chosen, diagnostics } = selectKits(
      line.split(/[\s,]+/).filter((word) => word !== ''),
      profile,
    )
    return diagnostics.length === 0 ? { answer: chosen } : { problem: describeDiagnostics(diagnostics) }
  })
  return chosen && { profile, chosen }
}

const readProfile = (line: string, standard: ProfileName): Answer<ProfileName> => {
  const word = line.trim()
  const answer = word === '' ? standard : Object.hasOwn(profileWords, word) ? profileWords[word] : undefined
  return answer === undefined ? { problem: `${quote(word, 40)}: enter 1 or 2` } : { answer }
}

const describeDiagnostics = (diagnostics: readonly Diagnostic[]): string =>
  diagnostics.map(({ location, message }) => `${location.file}: ${message}`).join('\n')
