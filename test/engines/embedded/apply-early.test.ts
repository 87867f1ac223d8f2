import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { EarlyOutcome } from '../../../src/engine/early-outcome.ts'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import type { Command } from '../../../src/law/commands.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { StalledDisk } from './stalled-disk.ts'

const ASK = { kind: 'acquire', key: 'a', owner: 'x', requestId: '1' } as const
const RELEASE = { kind: 'release', key: 'a', owner: 'x' } as const

function early(engine: LockEngine, command: Command): EarlyOutcome<unknown> {
  const answer = engine.applyEarly?.(command)
  if (!(answer instanceof EarlyOutcome)) throw new Error(`${command.kind} is not early`)
  return answer
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let isOver = false
  const settle = (): void => {
    isOver = true
  }
  promise.then(settle, settle)
  for (let turn = 0; turn < 10; turn += 1) await setImmediate()
  return isOver
}

it('an outcome comes before it is durable, and says when it will be', async () => {
  const stalled = new StalledDisk()
  const engine = await stalled.open(new VirtualClock())
  stalled.isStalled = true
  const granted = early(engine, ASK)
  const released = early(engine, RELEASE)
  expect(granted.outcome).toMatchObject({ kind: 'granted', token: 1 })
  expect(released.outcome).toMatchObject({ kind: 'released' })
  expect(released.durable).toBe(granted.durable)
  expect(await isSettled(granted.durable)).toBe(false)
  stalled.goOn()
  await granted.durable
  const renewed = engine.applyEarly?.({ ...RELEASE, kind: 'renew', token: 1, ttlMs: 1_000 })
  expect(renewed).toMatchObject({ kind: 'refused' })
  await engine.close()
})

it('what rests on an outcome that is not durable is early as well', async () => {
  const stalled = new StalledDisk()
  const engine = await stalled.open(new VirtualClock())
  stalled.isStalled = true
  const granted = early(engine, ASK)
  const refused = early(engine, { ...ASK, owner: 'y' })
  expect(refused.outcome).toMatchObject({ kind: 'refused', code: 'held' })
  expect(refused.durable).toBe(granted.durable)
  expect(await isSettled(engine.read({ kind: 'inspect', key: 'a' }))).toBe(false)
  stalled.goOn()
  await engine.close()
})

it('if the disk fails, the promise of an early outcome rejects with what callers are told', async () => {
  const stalled = new StalledDisk()
  const engine = await stalled.open(new VirtualClock())
  stalled.isStalled = true
  const { durable } = early(engine, ASK)
  const told = engine.apply({ ...ASK, key: 'b' })
  stalled.isFailing = true
  stalled.goOn()
  const failure = { code: 'LOCK_STORAGE_FAILED', applied: 'maybe' }
  await expect(durable).rejects.toMatchObject(failure)
  await expect(told).rejects.toMatchObject(failure)
  await engine.close()
})

it('nothing is early in memory, and a wait is a promise', async () => {
  await using engine = openMemoryEngine()
  expect(engine.applyEarly?.(ASK)).toMatchObject({ kind: 'granted' })
  const waiting = engine.applyEarly?.({ ...ASK, owner: 'y', waitMs: 60_000 })
  expect(waiting).toBeInstanceOf(Promise)
  expect(engine.applyEarly?.(RELEASE)).toMatchObject({ kind: 'released' })
  expect(await waiting).toMatchObject({ kind: 'granted' })
})
