// Owns finding pieces of secrets: what a server cut, wrapped or split is no form of the secret any more, and still half of it.

/** Shorter ones stand in innocent text. */
const shortestPiece = 12

/** A piece, wherever it begins, covers one of the blocks into which its text is cut: only those are looked up. */
const blockLength = shortestPiece / 2

interface Spot {
  readonly form: string
  readonly index: number
}

/** Replaces by `***` what is a piece of one of the forms, as long as it is. */
export function createPieceRemover(forms: readonly string[]): (text: string) => string {
  const spots = spotsIn(forms.filter((form) => form.length >= shortestPiece))
  if (spots.size === 0) return (text) => text
  return (text) => {
    let safe = ''
    let done = 0
    for (let at = 0; at + blockLength <= text.length; at += blockLength) {
      if (at < done) continue
      const found = longestAround(text, at, done, spots.get(text.slice(at, at + blockLength)) ?? [])
      if (found === undefined) continue
      safe += `${text.slice(done, found.start)}***`
      done = found.end
    }
    return done === 0 ? text : safe + text.slice(done)
  }
}

function spotsIn(forms: readonly string[]): ReadonlyMap<string, readonly Spot[]> {
  const spots = new Map<string, Spot[]>()
  for (const form of forms) {
    for (let index = 0; index + blockLength <= form.length; index++) {
      const block = form.slice(index, index + blockLength)
      const known = spots.get(block)
      if (known === undefined) spots.set(block, [{ form, index }])
      else known.push({ form, index })
    }
  }
  return spots
}

interface Range {
  readonly start: number
  readonly end: number
}

function longestAround(text: string, at: number, from: number, spots: readonly Spot[]): Range | undefined {
  let longest: Range | undefined
  for (const { form, index } of spots) {
    let [start, end] = [at, at + blockLength]
    while (start > from && text[start - 1] === form[index - (at - start) - 1]) start -= 1
    while (end < text.length && text[end] === form[index + (end - at)]) end += 1
    if (end - start >= Math.max(shortestPiece, longest === undefined ? 0 : longest.end - longest.start + 1)) longest = { start, end }
  }
  return longest
}
