import { beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../../src/engine/engine.ts'
import { openSqlEngine } from '../../../../src/engines/sql/open-sql-engine.ts'
import type { Acquire } from '../../../../src/law/model/commands.ts'
import {
  ID_BYTES_MAX,
  META_BYTES_MAX,
  WAITERS_PER_KEY_MAX,
} from '../../../../src/engine/validation/limits.ts'
import { VirtualClock } from '../../../../src/testing/virtual-clock.ts'
import { MYSQL, POSTGRES, type ServerKind, SQLITE } from '../test-servers.ts'
import { useServer } from '../use-server.ts'

const TEST_MS_MAX = 300_000

const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'

/**
 * More values than any of the databases takes as parameters of one statement. In the long dose, as many as a
 * key takes, and with the longest names and words: more text than MySQL takes at once.
 */
const MANY = isLong ? WAITERS_PER_KEY_MAX : 4_000
const MORE = isLong ? { meta: 'm'.repeat(META_BYTES_MAX) } : {}
const toName = (name: string): string => (isLong ? name.padEnd(ID_BYTES_MAX, '-') : name)
const TTL_MS = 600_000

describe.each([SQLITE, POSTGRES, MYSQL])('very many at once, on $name,', (kind: ServerKind) => {
  const server = useServer(kind)
  let clock: VirtualClock
  let engine: LockEngine

  beforeEach(async () => {
    const where = await server.create()
    clock = new VirtualClock({ nowMs: 1_000_000 })
    engine = server.closing(
      await openSqlEngine(() => kind.open(where), { clock, isClockOurs: true }),
    )
    await engine.apply({ kind: 'open-session', session: 's', graceMs: 600_000 })
  })

  async function ask(more: Partial<Acquire>): Promise<void> {
    await Promise.all(
      Array.from({ length: MANY }, async (_, index) =>
        engine.apply({
          kind: 'acquire',
          key: 'k',
          owner: toName(`owner-${index}`),
          requestId: toName('1'),
          ttlMs: TTL_MS,
          ...MORE,
          ...more,
        }),
      ),
    )
  }

  async function count(): Promise<readonly [holds: number, waiters: number]> {
    const { holds, waiters } = await engine.read({ kind: 'stats' })
    return [holds, waiters]
  }

  it(
    'waiters leave with their session, and watchers are told',
    async () => {
      let left = 0
      await engine.apply({ kind: 'acquire', key: 'k', owner: 'x', requestId: '1', ttlMs: TTL_MS })
      await ask({ session: 's', waitMs: Infinity, detach: true })
      expect(await count()).toEqual([1, MANY])
      await engine.watch({}, ({ kind: told }) => {
        if (told === 'cancelled') left += 1
      })
      const closed = await engine.apply({ kind: 'close-session', session: 's' })
      expect(closed).toEqual({ kind: 'session-closed', ended: MANY })
      expect(await count()).toEqual([1, 0])
      await expect.poll(() => left).toBe(MANY)
    },
    TEST_MS_MAX,
  )

  it(
    'readers are granted together',
    async () => {
      await engine.apply({ kind: 'acquire', key: 'k', owner: 'x', requestId: '1', ttlMs: TTL_MS })
      await ask({ session: 's', mode: 'read', waitMs: Infinity, detach: true })
      await engine.apply({ kind: 'release', key: 'k', owner: 'x' })
      expect(await count()).toEqual([MANY, 0])
    },
    TEST_MS_MAX,
  )

  it(
    'holds end with their session',
    async () => {
      await ask({ session: 's', mode: 'read' })
      expect(await count()).toEqual([MANY, 0])
      const closed = await engine.apply({ kind: 'close-session', session: 's' })
      expect(closed).toEqual({ kind: 'session-closed', ended: MANY })
      expect(await count()).toEqual([0, 0])
    },
    TEST_MS_MAX,
  )

  it(
    'holds end with their leases',
    async () => {
      await ask({ mode: 'read' })
      await clock.advance(2 * TTL_MS)
      expect(await count()).toEqual([0, 0])
    },
    TEST_MS_MAX,
  )
})
