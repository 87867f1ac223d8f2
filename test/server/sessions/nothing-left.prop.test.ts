import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Gauge, Registry } from 'prom-client'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import type { ClientMessage } from '../../../src/wire/session/session-message.ts'
import type { RawClient } from './raw-client.ts'
import { openSessionRig, type SessionRig } from './session-rig.ts'

const RUNS = process.env['HOLDFAST_TEST_DOSE'] === 'long' ? 5_000 : 60
const KEYS = ['free', 'held'] as const
const TTL_MS = 10_000
const DAY_MS = 86_400_000
/** Longer than a grace, a lease, and the patience with a node that asks now and then. */
const LONG_MS = 200_000
const NEVER = Number.POSITIVE_INFINITY

/** What a client may do; `end` is for the last step only. */
type Step =
  | { readonly kind: 'say'; readonly messages: readonly (readonly [number, ClientMessage])[] }
  | { readonly kind: 'come-back' }
  | { readonly kind: 'garbage' }

const key = fc.constantFrom(...KEYS)
const owner = fc.constantFrom('a', 'b')
const waitMs = fc.constantFrom(0, 60_000, NEVER)
/** Of a request in the session of its connection, or in none. */
const session = fc.constantFrom('own', undefined)

const acquire = fc.record({ key, owner, waitMs, session, requestId: fc.constantFrom('1', '2') })
const begin = fc.record({ resource: key, node: owner, waitMs, session })
const watch = fc.nat(2)

const message: fc.Arbitrary<ClientMessage> = fc.oneof(
  acquire.map((one) => ({ kind: 'acquire', ttlMs: TTL_MS, ...one }) as const),
  begin.map((one) => ({ kind: 'begin', type: 'build', ttlMs: TTL_MS, ...one }) as const),
  fc.record({ key, owner }).map((one) => ({ kind: 'release', ...one }) as const),
  fc.record({ key, owner }).map((one) => ({ kind: 'cancel', ...one }) as const),
  watch.map((one) => ({ kind: 'watch', watch: one }) as const),
  watch.map((one) => ({ kind: 'watch', watch: one }) as const),
  watch.map((one) => ({ kind: 'unwatch', watch: one }) as const),
  fc.constant({ kind: 'heartbeat' } as const),
  fc.constant({ kind: 'read', query: { kind: 'list' } } as const),
  fc.constant({ kind: 'goodbye' } as const),
)
const frame = fc.array(fc.tuple(fc.nat(40), message), { minLength: 1, maxLength: 6 })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: frame.map((messages) => ({ kind: 'say', messages }) as const) },
  { weight: 2, arbitrary: fc.constant({ kind: 'come-back' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'garbage' } as const) },
)
const program = fc.array(step, { minLength: 1, maxLength: 8 })

interface Left {
  readonly connections: number
  readonly streams: number
  readonly waiters: number
  readonly sessions: number
  readonly unsent: number
  readonly timers: number
}

async function readLeft({ clock, socketClock }: SessionRig, registry: Registry): Promise<Left> {
  const read = async (name: string): Promise<number> => {
    const { values } = await (registry.getSingleMetric(`holdfast_${name}`) as Gauge).get()
    return values[0]?.value ?? Number.NaN
  }
  return {
    connections: await read('http_connections'),
    streams: await read('streams'),
    waiters: await read('waiters'),
    sessions: await read('sessions'),
    unsent: await read('unsent_bytes'),
    timers: clock.pendingTimers + socketClock.pendingTimers,
  }
}

/** The commands name the session that the client has. */
function inSession(message: ClientMessage, { session }: RawClient): ClientMessage {
  return 'session' in message && message.session === 'own' ? { ...message, session } : message
}

async function play(rig: SessionRig, steps: readonly Step[], isPolite: boolean): Promise<void> {
  const clients = [await rig.client()]
  for (const step of steps) {
    const client = clients.at(-1) as RawClient
    if (client.socket.readyState !== client.socket.OPEN) break
    if (step.kind === 'garbage') client.socket.send(Buffer.from([0xc1, 0xc1]))
    else if (step.kind === 'say') {
      client.say(...step.messages.map(([id, one]) => [id, inSession(one, client)] as const))
    } else {
      const { session } = client
      // A session that has ended is opened anew under its name.
      clients.push(await rig.client({ session }))
    }
  }
  if (isPolite) clients.at(-1)?.goodbye()
  for (const client of clients) client.cut()
}

describe('whatever the frames of a client and wherever it is cut', () => {
  it('its session leaves no watch, waiter, timer or byte behind', async () => {
    const registry = new Registry()
    const rig = await openSessionRig({ registry })
    const other = { owner: 'other', node: 'other', ttlMs: DAY_MS, requestId: '1' } as const
    await rig.engine.apply({ kind: 'acquire', key: 'held', ...other })
    await rig.engine.apply({ kind: 'begin', type: 'build', resource: 'held', ...other })
    const before = await readLeft(rig, registry)
    expect(before).toMatchObject({ connections: 0, streams: 0, waiters: 0, sessions: 0, unsent: 0 })
    await fc.assert(
      fc.asyncProperty(program, fc.boolean(), async (steps, isPolite) => {
        await play(rig, steps, isPolite)
        let left = await readLeft(rig, registry)
        const look = async (): Promise<boolean> => {
          // A socket is closed a moment before its session hears of it, and the grace runs from then.
          await rig.clock.advance(LONG_MS)
          await rig.engine.apply({ kind: 'renew', key: 'held', owner: 'other', ttlMs: DAY_MS })
          await rig.engine.apply({ kind: 'begin', type: 'build', resource: 'held', ...other })
          left = await readLeft(rig, registry)
          return isDeepStrictEqual(left, before)
        }
        await new Patience(10_000).until(look, 'all of it has gone').catch(() => {})
        expect(left).toEqual(before)
      }),
      // What one run leaves behind would fail every run after it: there is nothing to shrink.
      { numRuns: RUNS, endOnFailure: true },
    )
  })
})
