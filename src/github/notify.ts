// Owns telling GitHub what came of a run. It never throws and changes no verdict: what cannot be told is said in a line each.
import type { Redact } from '../core/secrets.ts'
import { type Author, createGitHub, type Limits, openConversation, type Ports, usualLimits } from './client.ts'
import { tellComment, type When } from './comment.ts'
import type { News, Telling } from './context.ts'
import { describeFailure, toGitHubFailure } from './failure.ts'
import { tellIssue } from './issue.ts'
import { defaultLabel, isFromFork, readEvent, readRun, subjectOf } from './run.ts'

export interface Wish {
  readonly news: News
  readonly comment: 'off' | When
  readonly issue: 'off' | 'on-failure'
  /** As the user named it. */
  readonly label: string | undefined
  /** Service or organization, for the label's default. */
  readonly target: string | undefined
  readonly prNumber: number | undefined
  readonly token: string | undefined
  readonly redact: Redact
}

type Environment = Readonly<Record<string, string | undefined>>

type What = 'comment' | 'issue'

/** Resolves to what is lost and why, a sentence or two for each. */
export async function tellGitHub(wish: Wish, env: Environment, ports: Ports, limits: Limits = usualLimits): Promise<readonly string[]> {
  const { comment, issue, token, redact } = wish
  const wanted: readonly What[] = [...(comment === 'off' ? [] : (['comment'] as const)), ...(issue === 'off' ? [] : (['issue'] as const))]
  const lost = (reason: string): readonly string[] => wanted.map((what) => `${what}: ${redact(reason)}`)
  const place = readRun(env)
  if ('problem' in place) return lost(`${place.problem}.`)
  if (token === undefined) return lost('there is no github-token to write it with.')
  try {
    const note = (line: string): void => ports.note(redact(line))
    return await tellAll(wanted, { ...wish, token }, { run: place.run, ports: { ...ports, note }, limits })
  } catch (thrown) {
    return lost(toGitHubFailure(thrown, ports.clock.now()).message)
  }
}

interface Scene extends Pick<Telling, 'run' | 'ports'> {
  readonly limits: Limits
}

async function tellAll(
  wanted: readonly What[],
  wish: Wish & { readonly token: string },
  { run, ports, limits }: Scene,
): Promise<readonly string[]> {
  const { news, token, redact, prNumber, comment } = wish
  const event = await readEvent(run.eventFile)
  const conversation = await openConversation(run, token, ports, limits)
  try {
    const github = createGitHub(run, conversation)
    // Before it is spelled for a mark, where a secret would no longer be recognized.
    const label = redact(wish.label ?? defaultLabel(run, news.operation, wish.target))
    // Asked once, and only when somebody wants to know.
    let author: Promise<Author> | undefined
    const tell = async (what: What): Promise<void> => {
      author ??= github.author()
      const telling: Telling = { news, run, event, label, github, author: await author, redact, ports }
      if (what === 'issue') await tellIssue(telling)
      else if (comment !== 'off') await tellComment(telling, comment, subjectOf(run, event, prNumber))
    }
    const lost: string[] = []
    for (const what of wanted) {
      const attempted = { what, isFromFork: isFromFork(run, event) }
      await tell(what).catch((thrown) => {
        lost.push(`${what}: ${redact(describeFailure(toGitHubFailure(thrown, ports.clock.now()), attempted))}`)
      })
    }
    return lost
  } finally {
    await conversation.close()
  }
}
