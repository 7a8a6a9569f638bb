// Owns parsing YAML text within bounds: what is too long or too deep is refused before anything is built of it.
import { Composer, type CST, type Document, Lexer, LineCounter, type ParsedNode, Parser } from 'yaml'

/** How many levels a document may have. */
export const deepest = 100

/** Pieces of text: words, signs, line ends, escapes. Some five of them make a value. */
const mostPieces = 250_000

/** Nobody reads more mistakes than that, and each takes its time. */
const mostMistakes = 20

export interface Parsed {
  /** The first two documents; more do not matter. */
  readonly documents: readonly Document.Parsed<ParsedNode>[]
  readonly lines: LineCounter
}

/** What is too much, and where in the text. */
export interface TooMuch {
  readonly message: string
  readonly offset: number
  readonly lines: LineCounter
}

// Tags and merge keys beyond JSON's kinds of value are mistakes, whichever version of YAML the text asks for. The parser's own
// search for repeated keys compares each with each; extent.ts finds them in one pass.
const options = { schema: 'core', resolveKnownTags: false, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const

export function parseYaml(text: string): Parsed | TooMuch {
  const lines = new LineCounter()
  const stackTraceLimit = Error.stackTraceLimit
  // The parser makes an error object for every mistake; their stack traces would take seconds, and are shown to nobody.
  Error.stackTraceLimit = 0
  try {
    const documents: Document.Parsed<ParsedNode>[] = []
    for (const document of new Composer({ ...options, lineCounter: lines }).compose(tokensOf(text, lines))) {
      documents.push(document)
      if (documents.length > 1) break
    }
    return { documents, lines }
  } catch (thrown) {
    if (thrown instanceof TooMuchFound) return { message: thrown.message, offset: thrown.offset, lines }
    throw thrown
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

class TooMuchFound extends Error {
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** Around the collections there is the document, and inside them a scalar. */
const deepestStack = deepest + 2

function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let pieces = 0
  let mistakes = 0
  for (const piece of new Lexer().lex(text)) {
    pieces += 1 + marksIn(piece)
    if (pieces > mostPieces) throw new TooMuchFound(`is longer than ${mostPieces} words, signs and lines`, parser.offset)
    if (parser.stack.length > deepestStack) throw new TooMuchFound(`is nested deeper than ${deepest} levels`, parser.offset)
    for (const token of parser.next(piece)) {
      if (token.type === 'error') mistakes += 1
      yield token
    }
    if (mistakes > mostMistakes) break
  }
  yield* parser.end()
}

/** Line ends and escapes inside of one text, which is a single piece: each takes the composer as long as a word. */
function marksIn(piece: string): number {
  let marks = 0
  for (const mark of ['\n', '\\']) {
    for (let at = piece.indexOf(mark); at >= 0 && marks <= mostPieces; at = piece.indexOf(mark, at + 1)) marks += 1
  }
  return marks
}
