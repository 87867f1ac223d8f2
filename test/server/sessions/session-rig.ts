import { onTestFinished } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { LockServer, type LockServerOptions } from '../../../src/server/lock-server.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { RawClient } from './raw-client.ts'
import { openTestEngine } from '../test-engine.ts'

export const GRACE_MS = 5_000

export const patience: Patience = new Patience(45_000)

export interface SessionRig {
  readonly engine: LockEngine
  readonly server: LockServer
  readonly url: string
  /** Of leases and graces. */
  readonly clock: VirtualClock
  /** Of heartbeats and silence. */
  readonly socketClock: VirtualClock
  client(hello?: Parameters<typeof RawClient.open>[1]): Promise<RawClient>
  holders(key: string): Promise<string[]>
  waiters(key: string): Promise<string[]>
}

/** A server in this process whose clocks stand still until a test moves them. */
export async function openSessionRig(
  options: Partial<LockServerOptions> = {},
): Promise<SessionRig> {
  const clock = new VirtualClock({ nowMs: 1_000 })
  const socketClock = new VirtualClock({ nowMs: 1_000 })
  const engine = await openTestEngine({ clock })
  const server = await LockServer.open({
    engine,
    clock,
    socketClock,
    sessionGraceMs: GRACE_MS,
    ...options,
  })
  const clients: RawClient[] = []
  onTestFinished(async () => {
    for (const client of clients) client.cut()
    await server.close()
    await engine.close()
  })
  return {
    engine,
    server,
    url: server.url,
    clock,
    socketClock,
    client: async (hello) => {
      const client = await RawClient.open(server.url, hello)
      clients.push(client)
      return client
    },
    holders: async (key) =>
      (await engine.read({ kind: 'inspect', key })).holders.map(({ owner }) => owner),
    waiters: async (key) =>
      (await engine.read({ kind: 'inspect', key })).queue.map(({ owner }) => owner),
  }
}
