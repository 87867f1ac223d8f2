import { onTestFinished } from 'vitest'
import type { LockEngine } from '../../src/engine/engine.ts'
import { openMemoryEngine } from '../../src/engines/embedded/embedded-engine.ts'
import type { LawSettings } from '../../src/law/model/settings.ts'
import { createLocks } from '../../src/locks/create-locks.ts'
import type { LocksOptions } from '../../src/locks/options/lock-options.ts'
import type { Locks } from '../../src/locks/locks.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { UnreliableEngine } from './unreliable-engine.ts'

export interface VirtualLocks {
  readonly clock: VirtualClock
  /** Between the locks and the engine proper: it can lose what passes through. */
  readonly engine: UnreliableEngine
  readonly locks: Locks
  /** Another client of the same engine, with its own connection. */
  readonly connect: (options?: LocksOptions) => Locks
}

/** Locks on an engine in memory and a clock that stands still until it is moved. */
export function openVirtualLocks(settings: Partial<LawSettings> = {}): VirtualLocks {
  const clock = new VirtualClock()
  const inner: LockEngine = openMemoryEngine({ clock, settings })
  const engine = new UnreliableEngine(inner)
  let seed = 0
  const random = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed / 2 ** 31
  }
  const connect = (options: LocksOptions = {}): Locks =>
    createLocks(engine, { clock, random, ...options })
  onTestFinished(() => inner.close())
  return { clock, engine, locks: connect({ owner: 'alice' }), connect }
}

/** The error that a promise rejects with; a failure if it does not. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('expected a rejection')
}
