import { expect, it } from 'vitest'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { decide, type Law } from '../../../src/law/decide.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const ACQUIRE = { kind: 'acquire', key: 'a', owner: 'o', requestId: '1' } as const

/** A law that contradicts itself on one kind of command. */
function failingOn(kind: string): Law {
  return (view, command, nowMs) => {
    if (command.kind === kind) throw new Error('a state that cannot be')
    return decide(view, command, nowMs)
  }
}

it('a law that fails is an error of its caller, nothing has changed, and the engine goes on', async () => {
  await using engine = openMemoryEngine({ law: failingOn('renew') })
  await engine.apply(ACQUIRE)
  await expect(engine.apply({ kind: 'renew', key: 'a', owner: 'o', ttlMs: 1000 })).rejects.toThrow(
    expect.objectContaining({ code: 'LOCK_INTERNAL', applied: 'maybe' }),
  )
  expect(await engine.apply({ kind: 'release', key: 'a', owner: 'o' })).toMatchObject({
    kind: 'released',
  })
})

/** A law whose decision on one kind of command no table can carry out. */
function impossibleOn(kind: string): Law {
  return (view, command, nowMs) => {
    const decision = decide(view, command, nowMs)
    if (command.kind !== kind) return decision
    return { ...decision, changes: [{ kind: 'no such change' } as never] }
  }
}

it('a decision that was made and not carried out stops the engine', async () => {
  await using engine = openMemoryEngine({ law: impossibleOn('renew') })
  await engine.apply(ACQUIRE)
  const waiting = Promise.resolve(
    engine.apply({ ...ACQUIRE, owner: 'other', waitMs: 60_000 }),
  ).catch((error: unknown) => error)
  const defect = { code: 'LOCK_INTERNAL' }
  await expect(
    engine.apply({ kind: 'renew', key: 'a', owner: 'o', ttlMs: 1000 }),
  ).rejects.toMatchObject(defect)
  expect(await waiting).toMatchObject(defect)
  await expect(engine.apply({ ...ACQUIRE, key: 'b' })).rejects.toMatchObject(defect)
})

it('a defect in an abort stops the engine instead of the process', async () => {
  await using engine = openMemoryEngine({ law: failingOn('cancel') })
  await engine.apply(ACQUIRE)
  const abort = new AbortController()
  const waiting = Promise.resolve(
    engine.apply({ ...ACQUIRE, owner: 'other', waitMs: 60_000 }, { signal: abort.signal }),
  ).catch((error: unknown) => error)
  abort.abort()
  expect(await waiting).toMatchObject({ code: 'LOCK_INTERNAL' })
  await expect(engine.read({ kind: 'stats' })).rejects.toThrow(/cannot be/)
})

it('a defect that nobody asked for stops the engine instead of the process', async () => {
  const clock = new VirtualClock()
  await using engine = openMemoryEngine({ law: failingOn('expire'), clock })
  await engine.apply({ ...ACQUIRE, ttlMs: 1000 })
  const waiting = Promise.resolve(
    engine.apply({ ...ACQUIRE, owner: 'other', waitMs: 60_000 }),
  ).catch((error: unknown) => error)
  await clock.advance(2000)
  expect(await waiting).toMatchObject({ code: 'LOCK_INTERNAL' })
  await expect(engine.read({ kind: 'stats' })).rejects.toThrow(/cannot be/)
})
