import { expect, it } from 'vitest'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

/** More keys than ends are kept of. */
const KEYS = 80_000
const OWN_KEYS = 20

it('a principal that is done with many keys takes no remembered end from another one', async () => {
  const engine = openMemoryEngine({ clock: new VirtualClock() })
  const acquire = (key: string, owner: string) =>
    engine.apply({ kind: 'acquire', key, owner, requestId: '1' })
  const own = Array.from({ length: OWN_KEYS }, (_, index) => `own-${index}`)
  for (const key of own) {
    await acquire(key, 'alice/a')
    await engine.apply({ kind: 'release', key, owner: 'alice/a' })
  }
  for (let index = 0; index < KEYS; index += 1) {
    await acquire(`many-${index}`, 'mallory/m')
    await engine.apply({ kind: 'release', key: `many-${index}`, owner: 'mallory/m' })
  }
  // Sent again, they are answered with how they ended, and hold nothing.
  for (const key of own) {
    expect(await acquire(key, 'alice/a')).toMatchObject({ kind: 'refused', code: 'ended' })
  }
  // The other one has lost the oldest of its own.
  expect(await acquire('many-0', 'mallory/m')).toMatchObject({ kind: 'granted' })
  expect(await acquire(`many-${KEYS - 1}`, 'mallory/m')).toMatchObject({ code: 'ended' })
  expect((await engine.read({ kind: 'stats' })).ended).toBeLessThan(70_000)
  await engine.close()
})
