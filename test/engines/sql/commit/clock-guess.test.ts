import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { BEHIND_MS_MAX, ClockEstimate } from '../../../../src/engines/sql/commit/clock-estimate.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'

/** What was heard is forgotten after one to two of these. */
const STRETCH_MS = 5_000

/** Clocks of today count this many milliseconds, and ours a few. */
const EPOCH_MS = 1_800_000_000_000

/** No clock that anyone decides by runs faster or slower by more than this. */
const DRIFT_MAX = 50e-6

/** An answer is remembered for this long at most, where the clock was asked again as late as possible. */
const REMEMBERED_MS_MAX = 4 * STRETCH_MS

/** Parts of a millisecond that floating-point numbers of this size are exact in. */
const PARTS = 8

/** A clock somewhere else. It shows whole milliseconds. */
class RemoteClock {
  readonly #ours: VirtualClock
  readonly #rate: number
  offsetMs: number

  constructor(ours: VirtualClock, offsetMs: number, rate = 1) {
    this.#ours = ours
    this.#rate = rate
    this.offsetMs = offsetMs
  }

  get exactMs(): number {
    return this.#ours.nowMs() * this.#rate + this.offsetMs
  }

  get shownMs(): number {
    return Math.floor(this.exactMs)
  }
}

interface Delays {
  readonly questionMs: number
  readonly answerMs: number
}

let ours: VirtualClock
let guess: ClockEstimate

function begin(): void {
  ours = new VirtualClock()
  guess = new ClockEstimate(ours)
}

beforeEach(begin)

/** Ask it what it shows, and hear of that. */
async function ask(remote: RemoteClock, { questionMs, answerMs }: Delays): Promise<void> {
  const askedAtMs = ours.nowMs()
  await ours.advance(questionMs)
  const { shownMs } = remote
  await ours.advance(answerMs)
  guess.note(shownMs, askedAtMs)
}

const AT_ONCE: Delays = { questionMs: 0.5, answerMs: 0.5 }

/** The slowest that is still of use. */
const SLOW: Delays = { questionMs: BEHIND_MS_MAX - 1, answerMs: 0 }

describe('what a clock shows', () => {
  it('is unknown before it was asked', () => {
    expect(guess.guess()).toBeUndefined()
  })

  it('is guessed from what it showed, and from the time since', async () => {
    const remote = new RemoteClock(ours, EPOCH_MS)
    await ask(remote, { questionMs: 1, answerMs: 0 })
    expect(guess.guess()).toBe(EPOCH_MS + 1)
    await ours.advance(1_234)
    expect(guess.guess()).toBe(EPOCH_MS + 1_235)
  })

  it('is not guessed from an answer that took too long', async () => {
    const remote = new RemoteClock(ours, EPOCH_MS)
    await ask(remote, { ...SLOW, answerMs: 1 / PARTS })
    expect(guess.guess()).toBeUndefined()
    await ask(remote, SLOW)
    expect(guess.guess()).toBe(remote.shownMs)
  })

  it('is guessed from two slow answers that leave little room together', async () => {
    const remote = new RemoteClock(ours, EPOCH_MS)
    await ask(remote, { questionMs: 100, answerMs: 0 })
    expect(guess.guess()).toBeUndefined()
    await ask(remote, { questionMs: 0, answerMs: 100 })
    expect(guess.guess()).toBe(remote.shownMs)
  })

  it('is forgotten if it was not asked for two stretches', async () => {
    const remote = new RemoteClock(ours, EPOCH_MS)
    await ask(remote, AT_ONCE)
    await ours.advance(2 * STRETCH_MS - 1)
    expect(guess.guess()).toBe(remote.shownMs - 1)
    await ours.advance(1)
    expect(guess.guess()).toBeUndefined()
    await ask(remote, AT_ONCE)
    expect(guess.guess()).toBe(remote.shownMs - 1)
  })

  it('is not guessed from a quick answer of long ago if all since were slow', async () => {
    const remote = new RemoteClock(ours, EPOCH_MS)
    await ask(remote, AT_ONCE)
    for (let stretch = 0; stretch < 2; stretch += 1) {
      expect(guess.guess()).toBeDefined()
      await ours.advance(STRETCH_MS)
      await ask(remote, { questionMs: 20, answerMs: 20 })
    }
    expect(guess.guess()).toBeUndefined()
  })

  it.each([
    ['forward', 10_000],
    ['back', -5_000],
    ['far back', -60_000],
    ['forward by little', 10],
    ['back by little', -10],
  ])('is guessed right again as soon as it was asked after it was set %s', async (_, byMs) => {
    const remote = new RemoteClock(ours, EPOCH_MS)
    for (const restMs of [STRETCH_MS - 1, STRETCH_MS, 2 * STRETCH_MS]) {
      await ask(remote, AT_ONCE)
      await ours.advance(1)
      await ask(remote, AT_ONCE)
      remote.offsetMs += byMs
      await ours.advance(restMs)
      await ask(remote, AT_ONCE)
      expect(remote.shownMs - (guess.guess() ?? Number.NaN)).toBeOneOf([0, 1])
    }
  })
})

/** Any time up to this, in parts of a millisecond. */
function timeUpTo(maxMs: number): fc.Arbitrary<number> {
  return fc.nat(maxMs * PARTS).map((parts) => parts / PARTS)
}

const DELAY_MS_MAX = 100
const delay = fc.oneof(timeUpTo(2), timeUpTo(2), timeUpTo(2), timeUpTo(DELAY_MS_MAX))
const question = fc.record({ questionMs: delay, answerMs: delay })
const rest = fc.record({ restMs: fc.oneof(timeUpTo(50), timeUpTo(STRETCH_MS)) })

/** By more than what any two answers could leave open: nobody can tell less from answers that were slow. */
const SET_MS_MIN = 4 * DELAY_MS_MAX
const setting = fc
  .tuple(fc.constantFrom(-1, 1), timeUpTo(10_000))
  .map(([sign, ms]) => ({ setByMs: sign * (SET_MS_MIN + ms) }))

type Step = Delays | { readonly restMs: number } | { readonly setByMs: number }

const offset = timeUpTo(1_000).map((ms) => EPOCH_MS + ms)
const { HOLDFAST_SEED: seed } = process.env
const parameters = { numRuns: 500, ...(seed === undefined ? {} : { seed: Number(seed) }) }

/** Looks at a guess after each step, unless the clock was set and not asked since. Returns how many there were. */
async function checkGuesses(
  steps: readonly Step[],
  remote: RemoteClock,
  check: (guessedMs: number) => void,
): Promise<number> {
  let guesses = 0
  let isSet = false
  for (const one of steps) {
    if ('restMs' in one) await ours.advance(one.restMs)
    // Whoever sets it twice may leave it nearly as it was, and nobody can tell.
    else if ('setByMs' in one) remote.offsetMs += isSet ? 0 : one.setByMs
    else await ask(remote, one)
    isSet = 'setByMs' in one || (isSet && 'restMs' in one)
    const guessedMs = isSet ? undefined : guess.guess()
    if (guessedMs === undefined) continue
    guesses += 1
    check(guessedMs)
  }
  return guesses
}

describe('a guess after answers of any delay', () => {
  it('is never ahead of the clock, and little behind, also when somebody has set it', async () => {
    const steps = fc.array(fc.oneof(question, question, rest, setting), { maxLength: 60 })
    let guesses = 0
    const property = fc.asyncProperty(steps, offset, async (taken, offsetMs) => {
      const remote = new RemoteClock(ours, offsetMs)
      guesses += await checkGuesses(taken, remote, (guessedMs) => {
        expect(guessedMs).toBeLessThanOrEqual(remote.shownMs)
        expect(guessedMs).toBeGreaterThanOrEqual(remote.exactMs - BEHIND_MS_MAX - 1)
      })
    })
    await fc.assert(property.beforeEach(begin), parameters)
    expect(guesses).toBeGreaterThan(500)
  })

  it('is wrong by no more than the clocks drift apart while an answer is remembered', async () => {
    const steps = fc.array(fc.oneof(question, question, rest), { maxLength: 60 })
    const drift = fc.double({ min: -DRIFT_MAX, max: DRIFT_MAX, noNaN: true })
    const driftedMsMax = DRIFT_MAX * REMEMBERED_MS_MAX
    const property = fc.asyncProperty(steps, offset, drift, async (taken, offsetMs, rate) => {
      const remote = new RemoteClock(ours, offsetMs, 1 + rate)
      await checkGuesses(taken, remote, (guessedMs) => {
        expect(guessedMs).toBeLessThanOrEqual(remote.exactMs + driftedMsMax)
        const behindMs = remote.exactMs - guessedMs
        expect(behindMs).toBeLessThanOrEqual(BEHIND_MS_MAX + 1 + driftedMsMax)
      })
    })
    await fc.assert(property.beforeEach(begin), parameters)
  })
})
