import { expect, it } from 'vitest'
import type { Acquire } from '../../../src/law/model/commands.ts'
import type { LockServer } from '../../../src/server/lock-server.ts'
import { GRACE_MS, openSessionRig, patience } from './session-rig.ts'

const ACQUIRE: Acquire = { kind: 'acquire', key: 'k', owner: 'a', requestId: '1', ttlMs: 60_000 }

/** The counters of sessions, without the common part of their names. */
async function countsOf(server: LockServer): Promise<Record<string, number>> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const found = text.matchAll(/^holdfast_sessions?_(\S+_total\S*) (\d+)$/gm)
  return Object.fromEntries([...found].map(([, name, count]) => [name ?? '', Number(count)]))
}

const NOTHING = {
  opened_total: 0,
  resumed_total: 0,
  requests_total: 0,
  'ended_total{reason="goodbye"}': 0,
  'ended_total{reason="gone"}': 0,
  'ended_total{reason="revoked"}': 0,
  'ended_total{reason="silent"}': 0,
  'frames_total{direction="in"}': 0,
  'frames_total{direction="out"}': 0,
}

it('a session is counted from its hello to its good-bye, with what it asks', async () => {
  const rig = await openSessionRig()
  expect(await countsOf(rig.server)).toEqual(NOTHING)
  const client = await rig.client()
  client.ask(1, ACQUIRE)
  await client.answer(1)
  client.read(2, { kind: 'inspect', key: 'k' })
  await client.answer(2)
  const counts = {
    ...NOTHING,
    opened_total: 1,
    requests_total: 2,
    'frames_total{direction="in"}': 3,
    'frames_total{direction="out"}': 3,
  }
  expect(await countsOf(rig.server)).toEqual(counts)
  client.goodbye()
  await client.closed
  expect(await countsOf(rig.server)).toEqual({
    ...counts,
    'ended_total{reason="goodbye"}': 1,
    'frames_total{direction="in"}': 4,
  })
})

it('coming back is counted, requests that are sent again are, and not coming back is an end', async () => {
  const rig = await openSessionRig()
  const client = await rig.client()
  client.ask(1, ACQUIRE)
  await client.answer(1)
  client.cut()
  const again = await rig.client({ session: client.session })
  again.ask(1, ACQUIRE)
  again.ask(2, { kind: 'sweep' })
  await again.answer(2)
  const other = await rig.client({ session: client.session, isHeartbeatOnly: true })
  expect(await countsOf(rig.server)).toMatchObject({
    opened_total: 1,
    resumed_total: 1,
    requests_total: 3,
    'ended_total{reason="gone"}': 0,
  })
  other.cut()
  again.cut()
  await patience.until(async () => {
    await rig.clock.advance(GRACE_MS)
    return (await countsOf(rig.server))['ended_total{reason="gone"}'] === 1
  }, 'it is given up')
})

it('a client that falls silent is counted by that', async () => {
  const rig = await openSessionRig()
  await rig.client()
  await patience.until(async () => {
    await rig.socketClock.advance(500)
    return (await countsOf(rig.server))['ended_total{reason="silent"}'] === 1
  }, 'it is dropped')
  expect((await countsOf(rig.server))['ended_total{reason="gone"}']).toBe(0)
})
