import { describe, expect, it } from 'vitest'
import type { KeyCommand } from '../../src/law/model/commands.ts'
import type { LawSettings } from '../../src/law/model/settings.ts'
import { compareForms } from './world/compare-forms.ts'
import { LawStory } from './world/law-story.ts'
import { placeOf } from './world/plain-world.ts'

const ASK = { kind: 'acquire', key: 'a', owner: 'x', requestId: '1' } as const
const RELEASE = { kind: 'release', key: 'a', owner: 'x' } as const

/** Whether the short form speaks about a command, after what was done before. It must not be wrong. */
function speaksOf(
  command: KeyCommand,
  before: readonly KeyCommand[] = [],
  { settings = {}, laterMs = 0 }: { settings?: Partial<LawSettings>; laterMs?: number } = {},
): boolean {
  const story = new LawStory(settings)
  for (const one of before) story.run(one)
  const nowMs = story.nowMs + laterMs
  return compareForms(story.world, { command, nowMs, place: placeOf(command) })
}

describe('the short form of the law', () => {
  it.each<[string, KeyCommand, readonly KeyCommand[]]>([
    ['a free key', ASK, []],
    ['a free key, to read', { ...ASK, mode: 'read' }, []],
    ['a free key, with everything that a lock may be asked for with', fullyAsked(), []],
    ['a key that was free again', { ...ASK, requestId: '2' }, [ASK, RELEASE]],
    ['the last step of a hold', RELEASE, [ASK]],
    ['the last step of a hold, by mode and token', { ...RELEASE, mode: 'write', token: 1 }, [ASK]],
    ['one of several readers', RELEASE, [read('x'), read('y')]],
  ])('says what the whole law says of %s', (_, command, before) => {
    expect(speaksOf(command, before)).toBe(true)
  })

  it.each<[string, KeyCommand, readonly KeyCommand[]]>([
    ['a key that is held', { ...ASK, owner: 'y' }, [ASK]],
    ['a request that is asked again', ASK, [ASK]],
    ['a request that has ended', ASK, [ASK, RELEASE]],
    ['a key that somebody waits for', RELEASE, [ASK, { ...ASK, owner: 'y', waitMs: 1_000 }]],
    ['a session that is not there', { ...ASK, session: 's' }, []],
    ['a hold of two steps', RELEASE, [ASK, { ...ASK, requestId: '2' }]],
    ['a stale token', { ...RELEASE, token: 7 }, [ASK]],
    ['a mode that is not held', { ...RELEASE, mode: 'read' }, [ASK]],
    ['a release that can be asked again', { ...RELEASE, requestId: 'r' }, [ASK]],
    ['a stranger', { ...RELEASE, owner: 'y' }, [ASK]],
    ['any other command', { kind: 'renew', key: 'a', owner: 'x', ttlMs: 1_000 }, [ASK]],
  ])('leaves to the whole law %s', (_, command, before) => {
    expect(speaksOf(command, before)).toBe(false)
  })

  it('leaves to the whole law what has expired, and a lane', () => {
    const settings = { lanes: ['high', 'low'] }
    expect(speaksOf(RELEASE, [{ ...ASK, ttlMs: 1_000 }], { laterMs: 1_000 })).toBe(false)
    expect(speaksOf({ ...ASK, lane: 'high' }, [], { settings })).toBe(false)
    expect(speaksOf(ASK, [], { settings })).toBe(true)
  })
})

function read(owner: string): KeyCommand {
  return { ...ASK, owner, mode: 'read' }
}

function fullyAsked(): KeyCommand {
  return { ...ASK, mode: 'write', ttlMs: 1_000, waitMs: 500, party: 'p', meta: '{"n":1}' }
}
