/** An answer that is not 200, thrown by whatever finds the request wrong. */
export class ProductError extends Error {
  override readonly name = 'ProductError'
  readonly status: number
  /** Some routes of the product answer the bare text of the status instead of `{message}`. */
  readonly isPlainText: boolean

  constructor(status: number, message: string, { isPlainText = false } = {}) {
    super(message)
    this.status = status
    this.isPlainText = isPlainText
  }
}

export const badRequest = (message: string): ProductError => new ProductError(400, message)

export const notFound = (message: string): ProductError => new ProductError(404, message)

/** What dashboards and connections answer for an id that does not exist. */
export const plainNotFound = (): ProductError => new ProductError(404, 'Not Found', { isPlainText: true })

/** The product never explains a failure of its own. */
export const internalError = (): ProductError => new ProductError(500, 'Something went wrong :(')
