import assert from 'node:assert/strict'
import type { LockEngine } from '../../src/engine/engine.ts'
import type { EngineFixture, OpenedEngine } from '../../src/testing/engine-suite/engine-fixture.ts'
import type { FaultCounters, FaultSettings } from '../../src/testing/fault.ts'
import { FaultProxy } from '../../src/testing/fault-proxy.ts'
import { SystemClock } from '../../src/time/system-clock.ts'
import type { OpenRemote } from './remote-fixtures.ts'

/** What happens to the connections, in turn; what is set stays until the next turn. */
const TURNS: readonly (FaultSettings | 'reset')[] = [
  { toClient: { kind: 'swallow' } },
  {},
  'reset',
  { toServer: { kind: 'delay', delayMs: 3, jitterMs: 4 } },
  { toServer: { kind: 'cut', afterBytes: 40 } },
  {},
  { toClient: { kind: 'cut', afterBytes: 25 } },
  {},
]
const TURN_MS = 15

/** A network between clients and servers that fails all the time, but for as long as it has to be calm. */
export class FaultyNetwork {
  readonly #proxies = new Set<FaultProxy>()
  readonly #clock = new SystemClock()
  readonly #total = { swallowed: 0, reset: 0, cut: 0, delayed: 0 }
  #turn = 0
  #calm = 0

  constructor() {
    this.#goOn()
  }

  /** Engines that reach their server through this network. */
  through(open: OpenRemote): OpenRemote {
    return async (url, waitNowMs) => {
      const { port } = new URL(url)
      const proxy = await FaultProxy.listen({ target: { port: Number(port) } })
      this.#proxies.add(proxy)
      const engine = await open(`http://${proxy.host}:${proxy.port}`, waitNowMs)
      return closeAfter(engine, () => this.#leave(proxy))
    }
  }

  /** The same fixture; while its clock moves, which is no real time, nothing fails. */
  wrap(fixture: EngineFixture): EngineFixture {
    return {
      ...fixture,
      open: async (options) => {
        const opened = await fixture.open(options)
        const advance = async (ms: number): Promise<void> => {
          await this.#calmly(opened, () => opened.advance(ms))
        }
        return { ...opened, advance }
      },
    }
  }

  /** Proof that everything that is meant to fail did, and that something got through all the same. */
  assertFaults(): void {
    const { swallowed, reset, cut, delayed } = this.#total
    for (const [name, count] of Object.entries({ swallowed, reset, cut, delayed })) {
      assert.ok(count >= 20, `${name} happened ${count} times`)
    }
  }

  async #calmly(opened: OpenedEngine, run: () => Promise<void>): Promise<void> {
    this.#calm += 1
    for (const proxy of this.#proxies) proxy.set({})
    try {
      await opened.engine.read({ kind: 'stats' })
      await run()
    } finally {
      this.#calm -= 1
    }
  }

  #goOn(): void {
    this.#clock.setTimer(TURN_MS, () => {
      this.#goOn()
      if (this.#calm > 0) return
      this.#turn += 1
      for (const proxy of this.#proxies) harm(proxy, TURNS[this.#turn % TURNS.length] ?? {})
    })
  }

  async #leave(proxy: FaultProxy): Promise<void> {
    this.#proxies.delete(proxy)
    this.#count(proxy.counters)
    await proxy.close()
  }

  #count({ answersSwallowed, connectionsReset, connectionsCut, toServer }: FaultCounters): void {
    this.#total.swallowed += answersSwallowed
    this.#total.reset += connectionsReset
    this.#total.cut += connectionsCut
    this.#total.delayed += toServer.piecesDelayed
  }
}

function harm(proxy: FaultProxy, turn: FaultSettings | 'reset'): void {
  if (turn === 'reset') proxy.resetConnections()
  else proxy.set(turn)
}

/** The engine says good-bye through the network, so that ends after it. */
function closeAfter(engine: LockEngine, end: () => Promise<void>): LockEngine {
  let closing: Promise<void> | undefined
  return {
    capabilities: engine.capabilities,
    apply: (command, options) => engine.apply(command, options),
    read: (query) => engine.read(query),
    watch: (filter, listener) => engine.watch(filter, listener),
    close: () => {
      closing ??= engine.close().then(end)
      return closing
    },
    [Symbol.asyncDispose]: () => engine.close().then(end),
  }
}
