import { expect, it } from 'vitest'
import { OpenWaits, type WaitStep } from '../../src/engine/waits/open-waits.ts'
import { nameOfWait } from '../../src/engine/waits/waiting-command.ts'
import { AnswersElsewhere } from '../../src/engines/sql/notify/answers-elsewhere.ts'
import type { Begin } from '../../src/law/model/commands.ts'
import type { Outcome } from '../../src/law/model/outcomes.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const ASKED = { kind: 'acquire', key: 'k', owner: 'a', requestId: '1', waitMs: 60_000 } as const
const BEGIN: Begin = { kind: 'begin', type: 'pull', resource: 'r', node: 'n', waitMs: 1_000 }
const PLACE = nameOfWait(ASKED)
const QUEUED: Outcome = { kind: 'queued', position: 1 }
const GRANTED: Outcome = {
  ...{ kind: 'granted', mode: 'write', token: 7, reads: 0, writes: 1, leaseMs: 60_000 },
}
const LETTER = {
  name: { space: 'lock', name: 'k' },
  owner: 'a',
  requestId: '1',
  answer: GRANTED,
} as const

/** An engine whose decisions are answered one by one, in the order in which they were asked for. */
class Desk {
  readonly steps: WaitStep[] = []
  readonly clock: VirtualClock = new VirtualClock()
  readonly #answers: ((outcome: Outcome | Promise<never>) => void)[] = []
  readonly waits: OpenWaits = new OpenWaits({
    clock: this.clock,
    decide: (_request, step) => this.#decide(step),
    onCount: () => {},
  })
  readonly elsewhere: AnswersElsewhere = new AnswersElsewhere({
    process: 'p',
    waits: this.waits,
    decide: (_name, command) => this.#decide(command as WaitStep),
  })

  #decide(step: WaitStep): Promise<Outcome> {
    this.steps.push(step)
    return new Promise((resolve) => {
      this.#answers.push(resolve)
    })
  }

  get kinds(): string[] {
    return this.steps.map(({ kind }) => kind)
  }

  async answer(outcome: Outcome | Promise<never>): Promise<void> {
    this.#answers.shift()?.(outcome)
    await new Promise(setImmediate)
  }

  /** A request that stands in the queue. */
  wait(signal?: AbortSignal): Promise<Outcome> {
    const answer = Promise.resolve(this.waits.hold(ASKED, signal, QUEUED))
    // A test looks at it later than it may reject.
    answer.catch(() => {})
    return answer
  }
}

it('an answer that is there at once is returned as it is', () => {
  const desk = new Desk()
  expect(desk.waits.hold(ASKED, undefined, GRANTED)).toBe(GRANTED)
  expect(desk.waits.size).toBe(0)
})

it('every call of a request is answered by the decision that settles it', async () => {
  const desk = new Desk()
  const both = [desk.wait(), desk.wait()]
  expect(desk.waits.size).toBe(1)
  desk.waits.settle(PLACE, GRANTED)
  expect(await Promise.all(both)).toEqual([GRANTED, GRANTED])
  expect(desk.waits.size).toBe(0)
})

it('only the last call that aborts withdraws the request', async () => {
  const desk = new Desk()
  const [first, second] = [new AbortController(), new AbortController()]
  const older = desk.wait(first.signal)
  const newer = desk.wait(second.signal)
  first.abort()
  await expect(older).rejects.toMatchObject({ code: 'LOCK_ABORTED' })
  expect(desk.steps).toEqual([])
  second.abort()
  expect(desk.steps).toMatchObject([{ kind: 'cancel', key: 'k', owner: 'a', requestId: '1' }])
  await desk.answer({ kind: 'cancelled', cancelled: true })
  await expect(newer).rejects.toMatchObject({ code: 'LOCK_ABORTED' })
})

it('a grant that arrives during the withdrawal does not reach the caller that aborted', async () => {
  const desk = new Desk()
  const controller = new AbortController()
  const waiting = desk.wait(controller.signal)
  controller.abort()
  desk.waits.settle(PLACE, GRANTED)
  await desk.answer({ kind: 'cancelled', cancelled: true })
  await expect(waiting).rejects.toMatchObject({ code: 'LOCK_ABORTED' })
})

it('an abort undoes a grant that is not durable yet', async () => {
  const desk = new Desk()
  const controller = new AbortController()
  const waiting = desk.wait(controller.signal)
  let onDurable = (): void => {}
  const durable = new Promise<void>((resolve) => {
    onDurable = resolve
  })
  desk.waits.settle(PLACE, GRANTED, durable)
  controller.abort()
  expect(desk.kinds).toEqual(['cancel'])
  onDurable()
  await desk.answer({ kind: 'cancelled', cancelled: true })
  await expect(waiting).rejects.toMatchObject({ code: 'LOCK_ABORTED' })
})

it('a closing engine leaves the calls alone whose answers are on their way to the disk', async () => {
  const desk = new Desk()
  const settled = desk.wait()
  let onDurable = (): void => {}
  const durable = new Promise<void>((resolve) => {
    onDurable = resolve
  })
  desk.waits.settle(PLACE, GRANTED, durable)
  const waiting = desk.wait()
  desk.waits.rejectAll(new Error('closed'))
  await expect(waiting).rejects.toThrow('closed')
  onDurable()
  expect(await settled).toEqual(GRANTED)
})

it('the last begin whose time is over hangs up; an earlier one only asks for its place', async () => {
  const desk = new Desk()
  const short = Promise.resolve(desk.waits.hold(BEGIN, undefined, QUEUED))
  const long = Promise.resolve(desk.waits.hold({ ...BEGIN, waitMs: 2_000 }, undefined, QUEUED))
  await desk.clock.advance(1_000)
  await desk.answer(QUEUED)
  expect(await short).toEqual(QUEUED)
  await desk.clock.advance(1_000)
  await desk.answer({ kind: 'queued', position: 3 })
  expect(await long).toEqual({ kind: 'queued', position: 3 })
  expect(desk.kinds).toEqual(['begin', 'hang-up'])
})

it('a begin that is settled when its time is over is answered with that', async () => {
  const desk = new Desk()
  const waiting = Promise.resolve(desk.waits.hold(BEGIN, undefined, QUEUED))
  await desk.clock.advance(1_000)
  await desk.answer({ kind: 'refused', code: 'not_holder' })
  desk.waits.settle(nameOfWait(BEGIN), { kind: 'skip', value: '1' })
  expect(await waiting).toEqual({ kind: 'skip', value: '1' })
})

it('a request whose first asking fails is not held open', async () => {
  const desk = new Desk()
  const failed = desk.waits.hold(ASKED, undefined, Promise.reject(new Error('gone')))
  await expect(failed).rejects.toThrow('gone')
  expect(desk.waits.size).toBe(0)
})

it('a grant that is told twice, at once and by asking again, arrives once', async () => {
  const desk = new Desk()
  const answer = desk.wait()
  const asking = desk.elsewhere.askAgain(new Set())
  desk.waits.settle(PLACE, GRANTED)
  expect(await answer).toEqual(GRANTED)
  await desk.answer(GRANTED)
  await asking
  expect(desk.kinds).toEqual(['entrust'])
})

it('a letter about a grant that was told before undoes nothing', async () => {
  const desk = new Desk()
  const answer = desk.wait()
  const asking = desk.elsewhere.askAgain(new Set())
  await desk.answer(GRANTED)
  await asking
  expect(await answer).toEqual(GRANTED)
  await desk.elsewhere.receive(LETTER)
  expect(desk.kinds).toEqual(['entrust'])
})

it.each([
  ['cancelled', 'cancelled'],
  ['unclaimed', 'abandoned'],
  ['disconnected', 'disconnected'],
] as const)('a wait whose grant was %s before it was taken ends %s', async (end, code) => {
  const desk = new Desk()
  const answer = desk.wait()
  const received = desk.elsewhere.receive(LETTER)
  await desk.answer({ kind: 'refused', code: 'not_holder' })
  await desk.answer({ kind: 'refused', code: 'ended', end })
  await received
  expect(await answer).toEqual({ kind: 'refused', code })
})
