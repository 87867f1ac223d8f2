import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openFileEngine, openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const ASK = { kind: 'acquire', key: 'a', owner: 'x', requestId: '1' } as const
const RELEASE = { kind: 'release', key: 'a', owner: 'x' } as const

it('an answer that is there at once comes without a promise, and is the same', async () => {
  await using engine = openMemoryEngine({ clock: new VirtualClock() })
  await using other = openMemoryEngine({ clock: new VirtualClock() })
  for (const command of [ASK, { ...ASK, owner: 'y' }, RELEASE, RELEASE]) {
    const answer = engine.apply(command)
    expect(answer).not.toBeInstanceOf(Promise)
    expect(answer).toEqual(await other.apply(command))
  }
})

it('a wait comes as a promise', async () => {
  await using engine = openMemoryEngine()
  void engine.apply(ASK)
  const waiting = engine.apply({ ...ASK, owner: 'y', waitMs: 60_000 })
  expect(waiting).toBeInstanceOf(Promise)
  void engine.apply(RELEASE)
  expect(await waiting).toMatchObject({ kind: 'granted' })
})

it('a failure is a promise that rejects, never an exception', async () => {
  const engine = openMemoryEngine()
  const wrong = engine.apply({ ...ASK, key: '' })
  await expect(wrong).rejects.toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
  await engine.close()
  await expect(engine.apply(ASK)).rejects.toMatchObject({ code: 'LOCK_ENGINE_CLOSED' })
})

it('what has to reach the disk first comes as a promise', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-direct-'))
  const engine = await openFileEngine(directory)
  const answer = engine.apply(ASK)
  expect(answer).toBeInstanceOf(Promise)
  expect(await answer).toMatchObject({ kind: 'granted' })
  await engine.close()
  await rm(directory, { recursive: true })
})

it('a key and a holder that are known are not checked again; anyone else is', async () => {
  await using engine = openMemoryEngine()
  await engine.apply(ASK)
  for (const owner of ['', 'a\nb', 'x'.repeat(257), 7 as never, undefined as never]) {
    const release = engine.apply({ ...RELEASE, owner })
    await expect(release).rejects.toMatchObject({ details: { field: 'owner' } })
  }
  for (const key of ['', 'a\nb', 'x'.repeat(513), 7 as never, undefined as never]) {
    const release = engine.apply({ ...RELEASE, key })
    await expect(release).rejects.toMatchObject({ details: { field: 'key' } })
  }
  expect(await engine.apply(RELEASE)).toMatchObject({ kind: 'released' })
})
