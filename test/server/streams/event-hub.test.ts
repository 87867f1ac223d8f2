import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { EventHub } from '../../../src/server/observe/event-hub.ts'
import { OperationFeed } from '../../../src/server/operations/operation-feed.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const KEPT = 8
const MINUTE_MS = 60_000

let clock: VirtualClock
let engine: LockEngine
let hub: EventHub
let granted: number

beforeEach(async () => {
  granted = 0
  clock = new VirtualClock()
  engine = openMemoryEngine({ clock })
  hub = new EventHub({ life: 'life', kept: KEPT, nowMs: () => clock.nowMs() })
  await hub.open(engine)
})

afterEach(async () => {
  await hub.close()
  await engine.close()
})

/** As many events. */
async function happen(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) {
    granted += 1
    const ttlMs = 10 * MINUTE_MS
    await engine.apply({ kind: 'acquire', key: `k${granted}`, owner: 'o', requestId: 'r', ttlMs })
  }
}

function keysSince(id: string): readonly string[] | undefined {
  return hub.since(id)?.map(({ event }) => (event.kind === 'reset' ? 'reset' : event.key))
}

describe('the hub of events', () => {
  it('keeps what happens while somebody follows who may come back', async () => {
    hub.follow()
    const id = hub.lastId
    await happen(3)
    expect(keysSince(id)).toEqual(['k1', 'k2', 'k3'])
    const ids = hub.since(id)?.map(({ number }) => hub.idOf(number)) ?? []
    expect(keysSince(ids[0] ?? '')).toEqual(['k2', 'k3'])
    expect(ids[2]).toBe(hub.lastId)
  })

  it('keeps only the latest', async () => {
    hub.follow()
    await happen(5)
    const known = hub.lastId
    await happen(KEPT)
    expect(keysSince(known)).toEqual(Array.from({ length: KEPT }, (_, index) => `k${index + 6}`))
    await happen(1)
    expect(keysSince(known)).toBeUndefined()
  })

  it('keeps nothing while nobody follows, and says so to those who ask', async () => {
    const first = hub.lastId
    expect(keysSince(first)).toEqual([])
    await happen(2)
    expect(keysSince(first)).toBeUndefined()
    expect(keysSince(hub.lastId)).toEqual([])
    hub.follow()
    const second = hub.lastId
    await happen(1)
    expect(keysSince(first)).toBeUndefined()
    expect(keysSince(second)).toEqual(['k3'])
  })

  it('keeps on for a minute after the last one left', async () => {
    const leave = hub.follow()
    const id = hub.lastId
    await happen(1)
    leave()
    await clock.advance(MINUTE_MS)
    await happen(1)
    expect(keysSince(id)).toEqual(['k1', 'k2'])
    hub.follow()
    await clock.advance(10 * MINUTE_MS)
    await happen(1)
    expect(keysSince(id)).toEqual(expect.arrayContaining(['k1', 'k2', 'k3']))
  })

  it('stops keeping when nobody came back', async () => {
    const leave = hub.follow()
    const another = hub.follow()
    const id = hub.lastId
    leave()
    leave()
    await clock.advance(5 * MINUTE_MS)
    await happen(1)
    expect(keysSince(id)).toEqual(['k1'])
    another()
    await clock.advance(5 * MINUTE_MS)
    await happen(1)
    expect(keysSince(id)).toBeUndefined()
    expect(keysSince(hub.lastId)).toEqual([])
  })

  it.each(['', 'life', 'life-', 'life-x', 'other-0', 'life-1', 'life--1', 'life-1e3'])(
    'knows nothing of the id %j',
    (id) => {
      hub.follow()
      expect(hub.since(id)).toBeUndefined()
    },
  )

  it('tells the listeners of operations what they missed in between', async () => {
    const feed = new OperationFeed(hub, 'server')
    const stop = feed.listen('r', () => {})
    const id = feed.lastId
    stop()
    await clock.advance(MINUTE_MS / 2)
    await engine.apply({ kind: 'begin', type: 'pull', resource: 'r', node: 'n' })
    await engine.apply({ kind: 'finish', type: 'pull', resource: 'r', node: 'n', success: true })
    expect(feed.since(id, 'r')?.map(({ kind }) => kind)).toEqual(['granted', 'succeeded'])
  })
})
