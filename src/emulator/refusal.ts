/** A request that the gateway refuses by itself, thrown by whatever finds it wrong. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export const badRequest = (message: string): Refusal => new Refusal(400, 'BAD_REQUEST', message)

export const notFound = (message: string): Refusal => new Refusal(404, 'NOT_FOUND', message)
