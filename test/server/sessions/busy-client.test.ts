import { describe, expect, it, onTestFinished } from 'vitest'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import type { LockEngine } from '../../../src/engine/engine.ts'
import type { Acquire } from '../../../src/law/commands.ts'
import type { OutcomeOf } from '../../../src/law/outcomes.ts'
import { LockServer } from '../../../src/server/lock-server.ts'
import { Patience } from '../../../src/testing/engine-suite/patience.ts'
import { OpenWait } from '../../../src/testing/engine-suite/open-wait.ts'
import { FaultProxy } from '../../../src/testing/fault-proxy.ts'
import { HolderProcess, type HolderReport } from './holder-process.ts'

const TTL_MS = 4_000
const GRACE_MS = 2_000
const TIMEOUT_MS = 60_000

const patience = new Patience(30_000)

interface Scene {
  readonly engine: LockEngine
  readonly proxy: FaultProxy
  readonly holder: HolderProcess
  readonly start: HolderReport
  /** Somebody else who wants the same lock. */
  readonly next: OpenWait<OutcomeOf<Acquire>>
}

/** A server here, a holder in a process of its own, and another one who waits. */
async function openScene(pulse: boolean): Promise<Scene> {
  const engine = openMemoryEngine()
  const server = await LockServer.open({ engine, sessionGraceMs: GRACE_MS })
  const proxy = await FaultProxy.listen({ target: { port: server.address.port } })
  const url = `http://${proxy.host}:${proxy.port}`
  const [holder, start] = await HolderProcess.start({ url, ttlMs: TTL_MS, pulse })
  onTestFinished(async () => {
    await holder.kill()
    await proxy.close()
    await server.close()
    await engine.close()
  })
  const waitMs = Number.POSITIVE_INFINITY
  const asked = { kind: 'acquire', key: 'k', owner: 'next', requestId: '1', waitMs } as const
  return { engine, proxy, holder, start, next: new OpenWait('1', engine.apply(asked), patience) }
}

/** Its worker thread is connected and has been answered. */
async function untilVouching(proxy: FaultProxy): Promise<void> {
  await patience.until(() => proxy.connections === 2, 'the worker is connected')
  const { bytesForwarded } = proxy.counters.toClient
  const isAnswered = (): boolean => proxy.counters.toClient.bytesForwarded > bytesForwarded + 600
  await patience.until(isAnswered, 'the worker is answered')
}

describe('a client whose main thread is blocked', () => {
  it.concurrent.each([0.9, 1.5])(
    'for %f of its lease keeps its lock, because a thread of it vouches for it',
    async (part) => {
      const { proxy, holder, next } = await openScene(true)
      await untilVouching(proxy)
      const report = await holder.do(`block:${part * TTL_MS}`)
      expect(report).toEqual({ after: 'block', isHeld: true, isAborted: false, reason: '' })
      expect(next.isOpen).toBe(true)
      const later = await holder.do('look')
      expect(later.isHeld).toBe(true)
      await holder.do('release')
      expect(await next.answer()).toMatchObject({ kind: 'granted' })
    },
    TIMEOUT_MS,
  )

  it.concurrent(
    'and that nobody vouches for loses its lock, and knows it before it does anything more',
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
  it.concurrent(
    'is noticed by its silence, although its sockets are open, and knows of it when it goes on',
    async () => {
      const { proxy, holder, start, next } = await openScene(true)
      await untilVouching(proxy)
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

  it.concurrent(
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
