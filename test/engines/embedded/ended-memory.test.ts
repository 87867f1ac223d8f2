import { expect, it } from 'vitest'
import { EndedMemory } from '../../../src/engines/embedded/table/ended-memory.ts'
import { ENDED_PER_KEY_MAX, ENDED_REMEMBERED_MS } from '../../../src/law/model/limits.ts'
import type { Ended } from '../../../src/law/model/view.ts'

function ended(owner: string, requestId: string, atMs = 0): Ended {
  const answer = { kind: 'refused', code: 'timeout' } as const
  return { verb: 'acquire', owner, requestId, mode: 'write', atMs, answer }
}

it('the newest ends are kept and the oldest forgotten', () => {
  const memory = new EndedMemory()
  const total = ENDED_PER_KEY_MAX + 10
  for (let n = 0; n < total; n += 1) memory.add(ended(`owner-${n}`, '1', n))
  expect(memory.size).toBe(ENDED_PER_KEY_MAX)
  for (let n = 0; n < total; n += 1) {
    expect(memory.find('acquire', `owner-${n}`, '1')?.atMs).toBe(n < 10 ? undefined : n)
  }
  expect(Array.from(memory, ({ atMs }) => atMs)).toEqual(
    Array.from({ length: ENDED_PER_KEY_MAX }, (_, index) => index + 10),
  )
})

it('an end is found by verb, owner and request id, each of which counts', () => {
  const memory = new EndedMemory()
  memory.add(ended('a', '1'))
  for (const more of ['none', 'some']) {
    expect(memory.find('acquire', 'a', '1'), more).toBeDefined()
    expect(memory.find('release', 'a', '1'), more).toBeUndefined()
    expect(memory.find('acquire', 'b', '1'), more).toBeUndefined()
    expect(memory.find('acquire', 'a', '2'), more).toBeUndefined()
    memory.add(ended('other', '9'))
  }
})

it('the memory is over a minute after the last end', () => {
  const memory = new EndedMemory()
  memory.add(ended('a', '1', 1000))
  expect(memory.isOver(1000 + ENDED_REMEMBERED_MS - 1)).toBe(false)
  expect(memory.isOver(1000 + ENDED_REMEMBERED_MS)).toBe(true)
})

it('says of each end whether it is one more or takes the place of the oldest', () => {
  const memory = new EndedMemory()
  for (let n = 0; n < ENDED_PER_KEY_MAX + 10; n += 1) {
    const before = memory.size
    expect(memory.add(ended('a', `${n}`, n))).toBe(n < ENDED_PER_KEY_MAX)
    expect(memory.size - before).toBe(n < ENDED_PER_KEY_MAX ? 1 : 0)
  }
})
