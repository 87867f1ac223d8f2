import { isLockError } from '../../engine/errors/errors.ts'
import { toUnreachable } from './remote-errors.ts'

/** The first connection. Unlike later ones, a caller waits for it. */
export class Opening {
  readonly promise: Promise<void>
  #resolve: () => void = () => {}
  #reject: (error: Error) => void = () => {}
  #latest: unknown = new Error('it does not answer in time')

  constructor() {
    this.promise = new Promise<void>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  resolve(): void {
    this.#resolve()
  }

  reject(error: Error): void {
    this.#reject(error)
  }

  /** Why it has not worked so far. */
  note(cause: unknown): void {
    this.#latest = cause
    if (isLockError(cause)) this.#reject(cause)
  }

  giveUp(): void {
    this.#reject(toUnreachable('no', this.#latest))
  }
}
