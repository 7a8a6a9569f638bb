// Owns a refusal: an answer that is an error, thrown by whatever finds the request wrong.

export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, text: string) {
    super(text)
    this.status = status
    this.code = code
  }
}

export const badRequest = (text: string): Refusal => new Refusal(400, 'BAD_REQUEST', text)

export const notFound = (text: string): Refusal => new Refusal(404, 'NOT_FOUND', text)
