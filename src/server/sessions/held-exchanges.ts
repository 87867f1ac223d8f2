import { createError } from '../../engine/errors/errors.ts'
import { isHeldOpen, nameOfWait } from '../../engine/waits/waiting-command.ts'
import type { Acquire, Begin } from '../../law/model/commands.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import type { Timer } from '../../time/clock.ts'
import { REVOKED, unauthorized } from '../access/authenticator.ts'
import type { Exchange } from '../http/exchange.ts'
import { type HeldRequest, HeldRequests } from './held-requests.ts'

/** An HTTP request that waits, and the connection that its answer goes to. */
interface HeldExchange extends HeldRequest<string> {
  /** The client gave the request an id, and so may come back for it after its connection broke. */
  readonly isNamed: boolean
  /** Runs since its connection broke. */
  grace: Timer | undefined
  /** Ends the wait of the exchange with an error. */
  reject: (error: Error) => void
  /** It need not be told any more that its token was revoked. */
  forget: () => void
}

/**
 * HTTP requests that are held open while they wait. A connection that breaks takes its request with it: at
 * once if the client cannot name it, else after the grace, unless it is asked for again by then.
 */
export class HeldExchanges {
  readonly #setTimer: (onOver: () => void) => Timer
  readonly #held = new HeldRequests<string, HeldExchange>()

  /** `setTimer` runs something when the grace of a broken connection has passed. */
  constructor(setTimer: (onOver: () => void) => Timer) {
    this.#setTimer = setTimer
  }

  /** How many are open or may be come back for. */
  get size(): number {
    return this.#held.size
  }

  /**
   * Ask the engine, and hold the request open if it waits. A client that sends `Prefer: processing` hears
   * `102` as soon as its request stands in the engine's order: what it sends after that comes after it. A
   * request that is answered at once needs no such sign.
   */
  ask(exchange: Exchange, command: Acquire | Begin, isNamed: boolean): Outcome | Promise<Outcome> {
    const { engine, principal, request, response } = exchange
    if (this.#held.size > 0) this.#askAgain(principal.name, command)
    const answer = engine.apply(command)
    if (!(answer instanceof Promise) || !isHeldOpen(command)) return answer
    const key = keyOf(principal.name, command)
    const held: HeldExchange = {
      ...{ key, engine, command, isNamed },
      grace: undefined,
      reject: () => {},
      forget: exchange.credential.onRevoked(() => this.#onRevoked(held)),
    }
    this.#held.hold(held)
    this.#follow(exchange, held)
    if (request.headers['prefer'] === 'processing') response.writeProcessing()
    return new Promise((resolve, reject) => {
      held.reject = reject
      answer.then(resolve, reject)
    })
  }

  /** The server stops: clients are told to come back, and keep what they have in the engine. */
  close(): void {
    for (const held of this.#held.all()) {
      this.#drop(held)
      held.reject(createError('LOCK_ENGINE_CLOSED', 'the server stops; ask again'))
    }
  }

  /** The newest asking counts. One that does not wait shows that the client is there: its grace begins anew. */
  #askAgain(principal: string | undefined, command: Acquire | Begin): void {
    const known = this.#held.get(keyOf(principal, command))
    if (known === undefined) return
    if (isHeldOpen(command)) this.#drop(known)
    else if (known.grace !== undefined) this.#startGrace(known)
  }

  #follow({ response, isGone }: Exchange, held: HeldExchange): void {
    // Not the request's own 'close', which comes as soon as its body was read.
    response.once('close', () => {
      if (response.writableFinished) this.#drop(held)
      else this.#onBroken(held)
    })
    if (isGone) this.#onBroken(held)
  }

  #onBroken(held: HeldExchange): void {
    if (!held.isNamed) void this.#withdraw(held)
    else if (held.grace === undefined) this.#startGrace(held)
  }

  #startGrace(held: HeldExchange): void {
    held.grace?.cancel()
    if (this.#held.get(held.key) !== held) return
    held.grace = this.#setTimer(() => void this.#withdraw(held))
  }

  #onRevoked(held: HeldExchange): void {
    held.reject(unauthorized(REVOKED))
    void this.#withdraw(held)
  }

  #withdraw(held: HeldExchange): Promise<void> {
    held.grace?.cancel()
    held.forget()
    return this.#held.withdraw(held, 'abandoned')
  }

  #drop(held: HeldExchange): void {
    held.grace?.cancel()
    held.forget()
    this.#held.drop(held)
  }
}

/** The name of a request among those of all principals. */
function keyOf(principal: string | undefined, command: Acquire | Begin): string {
  return `${principal ?? ''}\n${nameOfWait(command)}`
}
