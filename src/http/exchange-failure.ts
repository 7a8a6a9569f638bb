/** An exchange without a usable answer, before any status is judged. `code` comes from Node, undici, OpenSSL or this project. */
export class ExchangeFailure extends Error {
  override readonly name = 'ExchangeFailure'
  readonly code: string
  /** Bytes of the answer's body that had arrived. */
  readonly bytes: number
  /** The status that the proxy answered with, where it was the proxy that refused. */
  readonly proxyStatus: number | undefined

  constructor(
    code: string,
    message: string,
    details: { readonly bytes?: number; readonly proxyStatus?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause })
    this.code = code
    this.bytes = details.bytes ?? 0
    this.proxyStatus = details.proxyStatus
  }
}

// undici reports a proxy's refusal as if the user had canceled, or had called it wrongly. Only the message shows the cause.
const proxyRefusal = /^Proxy (?:response|Authentication Required) \((\d{3})\)/

/** Finds the code in an error of undici or Node. `timeoutCode` is given when our own total limit ended the exchange. */
export function toExchangeFailure(thrown: unknown, bytes: number, timeoutCode?: string): ExchangeFailure {
  if (thrown instanceof ExchangeFailure) return thrown
  const causes = [...chain(thrown)]
  const refusal = causes.map(({ message }) => proxyRefusal.exec(message)?.[1]).find((status) => status !== undefined)
  if (refusal !== undefined) {
    return new ExchangeFailure('PROXY_REFUSED', `the proxy answered ${refusal}`, { proxyStatus: Number(refusal), cause: thrown })
  }
  const message = causes[0]?.message ?? String(thrown)
  if (timeoutCode !== undefined) return new ExchangeFailure(timeoutCode, message, { bytes, cause: thrown })
  const code = causes.map((cause) => ('code' in cause ? cause.code : undefined)).find((value) => typeof value === 'string')
  return new ExchangeFailure(code ?? 'UNKNOWN', message, { bytes, cause: thrown })
}

function* chain(thrown: unknown): Generator<Error> {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    yield error
    if (error instanceof AggregateError) yield* error.errors.filter((inner) => inner instanceof Error)
  }
}
