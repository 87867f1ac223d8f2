import { setImmediate } from 'node:timers/promises'
import { GrantOrder } from './grant-order.ts'
import { createKey } from './lock-names.ts'
import type { Locker } from './contestants/locker.ts'
import { RoundTimer } from './round-timer.ts'
import type { Sample } from './scenario.ts'

export interface HotKeyOptions {
  readonly waiters: number
  readonly durationMs: number
}

const HOT_KEY = createKey(0)

/** A promise that is kept from outside. */
class Gate {
  open: () => void = () => {}
  readonly opened: Promise<void> = new Promise((resolve) => {
    this.open = resolve
  })
}

/** Somebody who has the key before anybody else asks for it, and gives it back when told to. */
async function holdFirst(locker: Locker): Promise<() => Promise<unknown>> {
  const held = new Gate()
  const gate = new Gate()
  const cycle = locker.cycle(HOT_KEY, () => {
    held.open()
    return gate.opened
  })
  await Promise.race([held.opened, cycle])
  return () => {
    gate.open()
    return cycle
  }
}

/**
 * Everybody wants the same key, and wants it back as soon as it is released. Counts the grants to those
 * who waited when it was released. All stand in line behind a first holder when the time begins.
 */
export async function runHotKey(locker: Locker, options: HotKeyOptions): Promise<Sample> {
  const { waiters, durationMs } = options
  const order = new GrantOrder(waiters)
  const giveBack = await holdFirst(locker)
  const timer = new RoundTimer(durationMs)
  const work = async (worker: number): Promise<void> => {
    let ask = 0
    const run = async (): Promise<void> => {
      if (!timer.isOver && order.granted(ask, worker)) timer.operations += 1
      order.releasing()
    }
    while (!timer.isOver) {
      ask = order.asked()
      await locker.cycle(HOT_KEY, run)
      timer.tick()
    }
  }
  const workers = Array.from({ length: waiters }, (_, worker) => work(worker))
  await setImmediate()
  timer.restart()
  await Promise.all([giveBack(), ...workers])
  return { ...timer.stop(), counts: countFairness(order) }
}

/** Everybody wants the same key once; when the last one has had it, all come again. */
export async function drainHotKey(locker: Locker, options: HotKeyOptions): Promise<Sample> {
  const { waiters, durationMs } = options
  const order = new GrantOrder(waiters)
  const timer = new RoundTimer(durationMs)
  const visit = (worker: number): Promise<unknown> => {
    const ask = order.asked()
    return locker.cycle(HOT_KEY, async () => {
      order.granted(ask, worker)
    })
  }
  while (!timer.isOver) {
    const giveBack = await holdFirst(locker)
    const visits = Array.from({ length: waiters }, (_, worker) => visit(worker))
    await setImmediate()
    await Promise.all([giveBack(), ...visits])
    timer.operations += waiters
    timer.look()
  }
  const sample = timer.stop()
  const drainMs = (sample.wallMs * waiters) / sample.operations
  return { ...sample, counts: { ...countFairness(order), drainMs } }
}

function countFairness({ overtakes, starved, busiestPercent }: GrantOrder): Sample['counts'] {
  return { overtakes, starved, busiestPercent }
}
