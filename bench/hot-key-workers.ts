import { setImmediate } from 'node:timers/promises'
import { GrantOrder } from './grant-order.ts'
import { createKey } from './lock-names.ts'
import type { Locker } from './locker.ts'
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

/**
 * Everybody wants the same key, and wants it back as soon as it is released. Counts the grants that went
 * to another worker than the one before. All stand in line behind a first holder when the time begins.
 */
export async function runHotKey(locker: Locker, options: HotKeyOptions): Promise<Sample> {
  const { waiters, durationMs } = options
  const order = new GrantOrder(waiters)
  const gate = new Gate()
  const first = locker.cycle(HOT_KEY, () => gate.opened)
  const timer = new RoundTimer(durationMs)
  const work = async (worker: number): Promise<void> => {
    let ask = 0
    const run = async (): Promise<void> => {
      if (!timer.isOver && order.granted(ask, worker)) timer.operations += 1
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
  gate.open()
  await Promise.all([first, ...workers])
  const counts = { overtakes: order.overtakes, starved: order.starved }
  return { ...timer.stop(), counts }
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
    const gate = new Gate()
    const first = locker.cycle(HOT_KEY, () => gate.opened)
    const visits = Array.from({ length: waiters }, (_, worker) => visit(worker))
    await setImmediate()
    gate.open()
    await Promise.all([first, ...visits])
    timer.operations += waiters
    timer.look()
  }
  return { ...timer.stop(), counts: { overtakes: order.overtakes, starved: order.starved } }
}
