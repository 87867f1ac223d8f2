import { expect, it, onTestFinished } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import type { Acquire } from '../../../src/law/model/commands.ts'
import { GRACE_MS, openSessionRig, patience } from './session-rig.ts'

/** Sessions are touched when somebody lets them; everything else is as usual. */
class HesitantEngine {
  readonly engine: LockEngine
  readonly held: (() => void)[] = []
  isHesitant = false

  constructor(store: LockEngine) {
    this.engine = Object.create(store, {
      apply: {
        value: async (...args: Parameters<LockEngine['apply']>) => {
          const [command] = args
          if (this.isHesitant && command.kind === 'touch-session') {
            await new Promise<void>((resolve) => this.held.push(resolve))
          }
          return store.apply(...args)
        },
      },
      read: { value: store.read.bind(store) },
      watch: { value: store.watch.bind(store) },
    }) as LockEngine
  }

  goOn(): void {
    this.isHesitant = false
    for (const resolve of this.held.splice(0)) resolve()
  }
}

it('a client whose session is long in coming is not taken for a silent one', async () => {
  const store = openMemoryEngine()
  onTestFinished(() => store.close())
  const hesitant = new HesitantEngine(store)
  const before = await openSessionRig({ engine: hesitant.engine })
  const client = await before.client()
  const { session } = client
  const acquire: Acquire = { kind: 'acquire', key: 'k', owner: 'a', requestId: '1', ttlMs: 20_000 }
  client.ask(1, { ...acquire, session })
  await client.answer(1)
  client.cut()

  const rig = await openSessionRig({ engine: hesitant.engine })
  await rig.socketClock.advance(10 * GRACE_MS)
  hesitant.isHesitant = true
  const coming = rig.client({ session })
  await patience.until(() => hesitant.held.length === 1, 'the engine is asked')
  await rig.socketClock.advance(GRACE_MS / 2)
  hesitant.goOn()
  const back = await coming
  back.ask(1, { ...acquire, requestId: '2', session })
  expect(await back.answer(1)).toMatchObject({ kind: 'granted', writes: 2 })
})
