import { describe, expect, it } from 'vitest'
import { BEAT_MS, openScene, type SessionScene } from './session-scene.ts'

/** Whoever asks anew pauses before that. */
async function passUntil<T>({ pass }: SessionScene, done: Promise<T>): Promise<T> {
  let isDone = false
  const end = (): void => {
    isDone = true
  }
  done.then(end, end)
  while (!isDone) {
    await pass(BEAT_MS, true)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return done
}

describe('a lock that was granted when its session had just lost something', () => {
  it.each(['acquire', 'withLock'] as const)('is asked for anew if it was that: %s', async (way) => {
    const scene = await openScene()
    const { locks, sent, loseWithAnswer } = scene
    loseWithAnswer('acquire', 'session')
    const finding =
      way === 'acquire' ? locks.acquire('k').then(pick) : locks.withLock('k', (lock) => pick(lock))
    expect(await passUntil(scene, finding)).toEqual({ isHeld: true, token: 2 })
    expect(sent.map(({ kind }) => kind).slice(0, 3)).toEqual(['acquire', 'renew', 'acquire'])
  })

  it('is asked for anew if it was lost while it was being confirmed', async () => {
    const scene = await openScene()
    const { locks, sent, loseWithAnswer } = scene
    loseWithAnswer('acquire', 'something')
    loseWithAnswer('renew', 'session')
    const lock = await passUntil(scene, locks.acquire('k'))
    expect(pick(lock)).toEqual({ isHeld: true, token: 2 })
    expect(sent.map(({ kind }) => kind)).toEqual(['acquire', 'renew', 'renew', 'acquire'])
  })

  it('is confirmed if it was something else', async () => {
    const { locks, sent, loseWithAnswer } = await openScene()
    loseWithAnswer('acquire', 'something')
    const lock = await locks.acquire('k')
    expect(pick(lock)).toEqual({ isHeld: true, token: 1 })
    expect(sent.map(({ kind }) => kind)).toEqual(['acquire', 'renew'])
  })
})

describe('an operation that was granted when its session had just lost something', () => {
  it.each(['begin', 'standing'] as const)('is asked for anew if it was that: %s', async (asked) => {
    const scene = await openScene()
    const { locks, sent, loseWithAnswer } = scene
    loseWithAnswer(asked, 'session')
    const begun = await passUntil(scene, locks.begin('pull', 'layer', { node: 'n' }))
    expect(begun.kind === 'acquired' && pick(begun.operation)).toEqual({ isHeld: true, token: 2 })
    expect(sent.map(({ kind }) => kind)).toEqual(['begin', 'begin'])
  })

  it('is held if it was something else', async () => {
    const { locks, sent, loseWithAnswer } = await openScene()
    loseWithAnswer('begin', 'something')
    const begun = await locks.begin('pull', 'layer', { node: 'n' })
    expect(begun.kind === 'acquired' && pick(begun.operation)).toEqual({ isHeld: true, token: 1 })
    expect(sent.map(({ kind }) => kind)).toEqual(['begin'])
  })
})

function pick({ isHeld, token }: { isHeld: boolean; token: number }): object {
  return { isHeld, token }
}
