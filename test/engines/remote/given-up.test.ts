import { expect, it } from 'vitest'
import { undoGrant } from '../../../src/engines/remote/undo-grant.ts'
import type { Command } from '../../../src/law/commands.ts'
import type { Outcome } from '../../../src/law/outcomes.ts'

it.each([
  ['stands', true],
  ['was undone', false],
])('an upgrade that was given up while it was answered %s', async (_, stands) => {
  const upgrade = {
    kind: 'acquire',
    key: 'k',
    owner: 'a',
    requestId: '2',
    waitMs: 60_000,
    mode: 'write',
  } as const
  const granted: Outcome = {
    kind: 'granted',
    mode: 'write',
    token: 7,
    reads: 1,
    writes: 1,
    leaseMs: 30_000,
  }
  const send = async (command: Command): Promise<Outcome> => {
    if (command.kind === 'cancel') return { kind: 'cancelled', cancelled: false }
    return stands ? granted : { kind: 'refused', code: 'ended', end: 'cancelled' }
  }
  const isUndone = await undoGrant(send as Parameters<typeof undoGrant>[0], upgrade, granted)
  expect(isUndone).toBe(!stands)
})
