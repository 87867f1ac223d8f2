import { describe, expect, it, onTestFinished } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import type { Acquire } from '../../../src/law/model/commands.ts'
import type { OutcomeOf } from '../../../src/law/model/outcomes.ts'
import { LockServer } from '../../../src/server/lock-server.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import { OpenWait } from '../../../src/testing/engine-suite/queue/open-wait.ts'
import { HolderProcess, type HolderReport } from './holder-process.ts'
import { openTestEngine } from '../test-engine.ts'

const TTL_MS = 8_000
const GRACE_MS = 5_000
const TIMEOUT_MS = 120_000

const patience = new Patience(60_000)

interface Scene {
  readonly engine: LockEngine
  readonly holder: HolderProcess
  readonly start: HolderReport
  /** Somebody else who wants the same lock. */
  readonly next: OpenWait<OutcomeOf<Acquire>>
}

/** A server here, a holder in a process of its own, and another one who waits. */
async function openScene(heartbeatThread: boolean): Promise<Scene> {
  const engine = await openTestEngine()
  const server = await LockServer.open({ engine, sessionGraceMs: GRACE_MS })
  const [holder, start] = await HolderProcess.start({
    url: server.url,
    ttlMs: TTL_MS,
    heartbeatThread,
  })
  onTestFinished(async () => {
    await holder.kill()
    await server.close()
    await engine.close()
  })
  const waitMs = Number.POSITIVE_INFINITY
  const asked = { kind: 'acquire', key: 'k', owner: 'next', requestId: '1', waitMs } as const
  return {
    engine,
    holder,
    start,
    next: new OpenWait('1', Promise.resolve(engine.apply(asked)), patience),
  }
}

describe('a client whose main thread is blocked', () => {
  it(
    'keeps its lock for longer than its lease, because a thread of it sends heartbeats',
    async () => {
      const { holder, next } = await openScene(true)
      await holder.do('covered')
      for (const part of [0.9, 1.5]) {
        const report = await holder.do(`block:${part * TTL_MS}`)
        expect(report).toEqual({ after: 'block', isHeld: true, isAborted: false, reason: '' })
        expect(next.isOpen).toBe(true)
      }
      expect(await holder.do('look')).toMatchObject({ isHeld: true, isAborted: false })
      await holder.do('release')
      expect(await next.answer()).toMatchObject({ kind: 'granted' })
    },
    TIMEOUT_MS,
  )

  it(
    'and that has no such thread loses its lock, and knows it before it does anything more',
    async () => {
      const { holder, start, next } = await openScene(false)
      const blocked = holder.do(`block:${1.5 * TTL_MS}`)
      const outcome = await next.answer()
      expect(outcome).toMatchObject({ kind: 'granted' })
      expect(outcome.kind === 'granted' && outcome.token > (start.token ?? 0)).toBe(true)
      expect(await blocked).toMatchObject({ isHeld: false, isAborted: true, reason: 'unconfirmed' })
    },
    TIMEOUT_MS,
  )
})

describe('a client whose process is stopped', () => {
  it(
    'is noticed by its silence, although its sockets are open, and knows of it when it goes on',
    async () => {
      const { holder, start, next } = await openScene(true)
      await holder.do('covered')
      holder.signal('SIGSTOP')
      const outcome = await next.answer()
      holder.signal('SIGCONT')
      expect(outcome).toMatchObject({ kind: 'granted' })
      expect(outcome.kind === 'granted' && outcome.token > (start.token ?? 0)).toBe(true)
      const report = await holder.do('look')
      expect(report).toMatchObject({ isHeld: false, isAborted: true })
    },
    TIMEOUT_MS,
  )

  it(
    'and killed is noticed within its grace',
    async () => {
      const { holder, next, engine } = await openScene(true)
      await holder.kill()
      expect(await next.answer()).toMatchObject({ kind: 'granted' })
      const { holders } = await engine.read({ kind: 'inspect', key: 'k' })
      expect(holders.map(({ owner }) => owner)).toEqual(['next'])
    },
    TIMEOUT_MS,
  )
})
