import { expect, it } from 'vitest'
import type { Departure } from '../../../src/engines/sql/key-snapshot.ts'
import { OpenWaits } from '../../../src/engines/sql/open-waits.ts'
import type { KeyName } from '../../../src/engines/sql/sql-dialect.ts'
import type { KeyCommand } from '../../../src/law/commands.ts'
import type { Outcome } from '../../../src/law/outcomes.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const NAME: KeyName = { space: 'lock', name: 'k' }
const ASKED = {
  kind: 'acquire',
  key: 'k',
  owner: 'a',
  requestId: '1',
  ttlMs: 60_000,
  waitMs: 60_000,
} as const
const GRANTED: Outcome = {
  kind: 'granted',
  mode: 'write',
  token: 7,
  reads: 0,
  writes: 1,
  leaseMs: 60_000,
}
const LETTER = { name: NAME, owner: 'a', requestId: '1', answer: GRANTED }

/** Commands that wait for their answers, in the order in which they were given. */
class Desk {
  readonly kinds: string[] = []
  readonly #answers: ((outcome: Outcome) => void)[] = []
  readonly waits: OpenWaits = new OpenWaits({
    process: 'p',
    clock: new VirtualClock(),
    decide: (_name: KeyName, command: KeyCommand) => {
      this.kinds.push(command.kind)
      return new Promise((resolve) => {
        this.#answers.push(resolve)
      })
    },
    findPlace: async () => undefined,
    onCount: () => {},
  })

  async answer(outcome: Outcome): Promise<void> {
    this.#answers.shift()?.(outcome)
    await new Promise(setImmediate)
  }
}

/** One who waits and stands in the queue. */
async function wait(desk: Desk, signal?: AbortSignal): Promise<Promise<Outcome>[]> {
  const answer = desk.waits.ask(ASKED, signal)
  answer.catch(() => {})
  await desk.answer({ kind: 'queued', position: 1 })
  return [answer]
}

it('a grant that is told twice, at once and by asking again, is not given back', async () => {
  const desk = new Desk()
  const [answer] = await wait(desk)
  const asking = desk.waits.askAgain(new Set())
  desk.waits.settle(NAME, { waiter: ASKED, answer: GRANTED } as unknown as Departure)
  expect(await answer).toEqual(GRANTED)
  await desk.answer(GRANTED)
  await asking
  expect(desk.kinds).toEqual(['acquire', 'entrust'])
})

it('a letter that is read twice does not give back what was told', async () => {
  const desk = new Desk()
  const [answer] = await wait(desk)
  const first = desk.waits.receive(LETTER)
  const second = desk.waits.receive(LETTER)
  await desk.answer(GRANTED)
  expect(await answer).toEqual(GRANTED)
  await desk.answer(GRANTED)
  await Promise.all([first, second])
  expect(desk.kinds).toEqual(['acquire', 'entrust', 'entrust'])
})

it('a letter that is read after its grant was told by asking again does not give it back', async () => {
  const desk = new Desk()
  const [answer] = await wait(desk)
  const asking = desk.waits.askAgain(new Set())
  await desk.answer(GRANTED)
  await asking
  expect(await answer).toEqual(GRANTED)
  const receiving = desk.waits.receive(LETTER)
  await desk.answer({ kind: 'cancelled', cancelled: false })
  await receiving
  expect(desk.kinds).toEqual(['acquire', 'entrust', 'decline'])
})

it('a grant to who has just given up is given back', async () => {
  const desk = new Desk()
  const controller = new AbortController()
  const [answer] = await wait(desk, controller.signal)
  controller.abort()
  desk.waits.settle(NAME, { waiter: ASKED, answer: GRANTED } as unknown as Departure)
  await desk.answer({ kind: 'cancelled', cancelled: false })
  await desk.answer({ kind: 'released', reads: 0, writes: 0 })
  await expect(answer).rejects.toMatchObject({ code: 'LOCK_ABORTED' })
  expect(desk.kinds).toEqual(['acquire', 'cancel', 'release'])
})

it.each([
  ['cancelled', 'cancelled'],
  ['unclaimed', 'abandoned'],
  ['disconnected', 'disconnected'],
] as const)('a wait whose grant was %s before it was taken ends %s', async (end, code) => {
  const desk = new Desk()
  const [answer] = await wait(desk)
  const received = desk.waits.receive(LETTER)
  await desk.answer({ kind: 'refused', code: 'not_holder' })
  await desk.answer({ kind: 'refused', code: 'ended', end })
  await received
  expect(await answer).toEqual({ kind: 'refused', code })
})
