import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Outcome } from '../../../../src/law/model/outcomes.ts'
import { createStillClock, OptimisticProcess } from './guessing-process.ts'
import { MYSQL, POSTGRES, type ServerKind, type TestServer } from '../test-servers.ts'

const START_MS_MAX = 300_000
const GRACE_MS = 10_000
const TTL_MS = 20_000

describe.each([POSTGRES, MYSQL])('who decides without looking at sessions, on $name,', (kind) => {
  const { start, open }: ServerKind = kind
  let server: TestServer
  let here: OptimisticProcess
  let there: OptimisticProcess
  let nowMs: number

  beforeAll(async () => {
    server = await start()
  }, START_MS_MAX)

  afterAll(() => server.stop())

  beforeEach(async () => {
    nowMs = 1_000_000
    const where = await server.create()
    const options = { clock: createStillClock(() => nowMs), isClockOurs: true }
    here = await OptimisticProcess.open(() => open(where), options)
    there = await OptimisticProcess.open(() => open(where), options)
    await there.engine.apply({ kind: 'open-session', session: 's', graceMs: GRACE_MS })
    await take()
    await here.release('a', 'k')
  })

  afterEach(async () => {
    await here.engine.close()
    await there.engine.close()
  })

  const take = (): Promise<Outcome> => here.acquire('a', 'k', { session: 's', ttlMs: TTL_MS })

  it('needs one round trip as long as nothing is heard of the session', async () => {
    const taken = await here.during(take)
    expect(taken).toMatchObject({ result: { kind: 'granted' }, trips: 1, refuted: 0 })
    const given = await here.during(() => here.release('a', 'k'))
    expect(given).toMatchObject({ result: { kind: 'released' }, trips: 1, refuted: 0 })
  })

  it('looks again when it was heard of, and counts from there', async () => {
    await take()
    nowMs += GRACE_MS / 2
    await there.engine.apply({ kind: 'touch-session', session: 's' })
    const renew = (): Promise<Outcome> =>
      here.engine.apply({ kind: 'renew', key: 'k', owner: 'a', ttlMs: 1_000 })
    expect(await here.during(renew)).toMatchObject({ result: { kind: 'renewed' }, refuted: 1 })
    nowMs += GRACE_MS - 1
    expect(await renew()).toMatchObject({ kind: 'renewed' })
  })

  it('gets nothing in one that has ended', async () => {
    await there.engine.apply({ kind: 'close-session', session: 's' })
    const asked = await here.during(take)
    expect(asked).toMatchObject({ result: { kind: 'refused', code: 'no_session' }, refuted: 1 })
  })

  it('gets nothing in one that has been silent for too long', async () => {
    nowMs += GRACE_MS
    expect(await take()).toMatchObject({ kind: 'refused', code: 'no_session' })
  })
})
