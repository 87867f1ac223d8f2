/** A request that is answered with an error of HTTP's own kind, before any engine is asked. */
export class HttpError extends Error {
  readonly status: number
  readonly code: string
  /** Further members of the body, such as the field that is wrong. */
  readonly details: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, options: HttpErrorOptions) {
    super(options.message)
    this.name = 'HttpError'
    this.status = status
    this.code = code
    this.details = options.details ?? {}
    this.headers = options.headers ?? {}
  }
}

export interface HttpErrorOptions {
  /** For the caller: no path, no stack, no secret. */
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A field of the request is missing or wrong; nothing changed. */
export function badRequest(field: string, message: string): HttpError {
  return new HttpError(400, 'bad_request', { message: `${field} ${message}`, details: { field } })
}
