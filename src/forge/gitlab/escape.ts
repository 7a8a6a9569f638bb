// What has an effect on GitLab, beyond Markdown. Untrusted text is code in every report, in which GitLab resolves no reference, mention
// or emoji: https://docs.gitlab.com/user/markdown/.

const zeroWidthSpace = '\u200b'

/**
 * A line that starts with a slash is a quick action, which GitLab carries out with the rights of the token, such as `/merge`. It skips code
 * blocks, but takes the first line of three backticks for their end, however long the fence is:
 * https://docs.gitlab.com/user/project/quick_actions/ and lib/gitlab/quick_actions/extractor.rb of GitLab.
 */
const withoutQuickActions = (markdown: string): string => markdown.replaceAll(/^([ \t]*)\//gm, `$1${zeroWidthSpace}/`)

/** GitLab reads entities in the title of a fold as text: `&#64;all` is a mention. */
const withoutReferences = (markdown: string): string =>
  markdown.replaceAll(/<summary>.*?<\/summary>/g, (summary) =>
    summary.replaceAll(/&#(?:33|35|36|37|38|42|58|64|91|94|126);/g, `$&${zeroWidthSpace}`),
  )

/** Markdown in which nothing has an effect on GitLab. */
export const escapeGitLabMarkdown = (markdown: string): string => withoutReferences(withoutQuickActions(markdown))

/** A title is plain text, in which GitLab resolves references, mentions and emoji. */
export const escapeGitLabTitle = (title: string): string => title.replaceAll(/[!#$%&*:@[^~](?=\S)/g, `$&${zeroWidthSpace}`)
