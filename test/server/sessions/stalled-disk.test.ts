import { expect, it, onTestFinished } from 'vitest'
import type { Acquire } from '../../../src/law/model/commands.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import type { LockServerOptions } from '../../../src/server/lock-server.ts'
import { StalledDisk } from '../../engines/embedded/stalled-disk.ts'
import type { RawClient } from './raw-client.ts'
import { openSessionRig, patience, type SessionRig } from './session-rig.ts'

function acquire(key: string, fields: Partial<Acquire> = {}): Acquire {
  return { kind: 'acquire', key, owner: 'a', requestId: '1', ttlMs: 60_000, ...fields }
}

interface StalledRig extends SessionRig {
  readonly disk: StalledDisk
}

async function openStalled(options: Partial<LockServerOptions> = {}): Promise<StalledRig> {
  const disk = new StalledDisk()
  const engine = await disk.open(new VirtualClock())
  onTestFinished(() => engine.close())
  const rig = await openSessionRig({ engine, ...options })
  onTestFinished(() => disk.goOn())
  const holders = async (key: string): Promise<string[]> =>
    (await engine.read({ kind: 'inspect', key })).holders.map(({ owner }) => owner)
  return { ...rig, holders, engine, disk }
}

/** A client whose session stands in the engine, before the disk stalls. */
async function openClient({ client: open, disk }: StalledRig): Promise<RawClient> {
  const client = await open()
  client.ask(1, acquire('first', { session: client.session }))
  await client.answer(1)
  disk.isStalled = true
  return client
}

/** What was asked for is decided, and waits for the disk; the server goes on with everything else. */
async function haveArrived({ disk, url }: StalledRig): Promise<void> {
  await patience.until(() => disk.isAwaited, 'something is on its way to the disk')
  for (let turn = 0; turn < 3; turn += 1) expect((await fetch(`${url}/healthz`)).status).toBe(200)
}

/** The ids that were answered with an outcome. */
function outcomes(client: RawClient): number[] {
  return client.heard.filter(([, { kind }]) => OUTCOMES.includes(kind)).map(([id]) => id)
}

const OUTCOMES: readonly string[] = ['granted', 'released', 'refused']

it('while the disk stalls nobody is told of a grant, and the server is as healthy as ever', async () => {
  const rig = await openStalled()
  const client = await openClient(rig)
  client.ask(2, acquire('k'))
  client.ask(3, acquire('k', { owner: 'b' }))
  client.ask(4, { kind: 'release', key: 'k', owner: 'a' })
  await haveArrived(rig)
  expect(outcomes(client)).toEqual([1])
  rig.disk.goOn()
  await client.answer(4)
  expect(await client.answer(2)).toMatchObject({ kind: 'granted' })
  expect(await client.answer(3)).toMatchObject({ kind: 'refused', code: 'held' })
})

it('if the disk fails, everyone whose answer waited for it is told so', async () => {
  const rig = await openStalled()
  const client = await openClient(rig)
  client.ask(2, acquire('k'))
  client.ask(3, acquire('l', { waitMs: 1_000 }))
  await haveArrived(rig)
  rig.disk.isFailing = true
  rig.disk.goOn()
  for (const id of [2, 3]) {
    expect(await client.answer(id)).toMatchObject({ code: 'LOCK_STORAGE_FAILED', applied: 'maybe' })
  }
  expect(outcomes(client)).toEqual([1])
})

it('a client that was cut off meanwhile hears its answers when it comes back and asks again', async () => {
  const rig = await openStalled()
  const before = await openClient(rig)
  before.ask(2, acquire('k', { waitMs: 1_000 }))
  await haveArrived(rig)
  before.cut()
  await before.closed
  rig.disk.goOn()
  const after = await rig.client({ session: before.session })
  after.ask(2, acquire('k', { waitMs: 1_000 }))
  expect(await after.answer(2)).toMatchObject({ kind: 'granted' })
})

it('a server that stops answers what was on its way to the disk', async () => {
  const rig = await openStalled()
  const client = await openClient(rig)
  client.ask(2, acquire('k'))
  await haveArrived(rig)
  const closed = rig.server.close()
  rig.disk.goOn()
  expect(await client.answer(2)).toMatchObject({ kind: 'granted' })
  await closed
})

it('grants that are not durable yet count against the limit of holds', async () => {
  const rig = await openStalled({ limits: { holds: 3 } })
  const client = await openClient(rig)
  for (const id of [2, 3, 4, 5]) client.ask(id, acquire(`k${id}`))
  await haveArrived(rig)
  rig.disk.goOn()
  const heard = await Promise.all([2, 3, 4, 5].map((id) => client.answer(id)))
  const kinds = heard.map(({ kind }) => kind)
  expect(kinds).toEqual(['granted', 'granted', 'refused', 'refused'])
})
