import { AssertionError } from 'node:assert'
import type { Clock } from '../../../time/clock.ts'
import { SystemClock } from '../../../time/system-clock.ts'

/** The harness waits on the real clock, whichever clock the engine under test has. */
export const REAL_CLOCK: Clock = new SystemClock()

/** Looking again at once is right where only a few promises are in the way of the answer. */
const EAGER_LOOKS = 50
const LOOK_AGAIN_MS = 2

/** Waits for what has to happen by itself, and says so when it does not. */
export class Patience {
  readonly #patienceMs: number

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  /** Returns when the condition is true; looks at least twice. */
  async until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const deadlineMs = REAL_CLOCK.nowMs() + this.#patienceMs
    for (let looks = 1; !(await condition()); looks++) {
      if (looks > 1 && REAL_CLOCK.nowMs() > deadlineMs) throw this.#gaveUp(what)
      await pause(looks < EAGER_LOOKS ? 0 : LOOK_AGAIN_MS)
    }
  }

  /** What the promise brings, provided that it does so in time. */
  async answer<Value>(promise: Promise<Value>, what: string): Promise<Value> {
    const { promise: late, reject } = createRejection()
    const timer = REAL_CLOCK.setTimer(this.#patienceMs, () => reject(this.#gaveUp(what)))
    timer.ref()
    try {
      return await Promise.race([promise, late])
    } finally {
      timer.cancel()
    }
  }

  #gaveUp(what: string): AssertionError {
    return new AssertionError({ message: `${what}: not within ${this.#patienceMs} ms` })
  }
}

function createRejection(): { promise: Promise<never>; reject: (reason: Error) => void } {
  let reject: (reason: Error) => void = () => {}
  const promise = new Promise<never>((_, rejectPromise) => {
    reject = rejectPromise
  })
  return { promise, reject }
}

/** Lets everything else run, input and output included. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms === 0) setImmediate(resolve)
    else REAL_CLOCK.setTimer(ms, resolve).ref()
  })
}
