import { describe, expect, it } from 'vitest'
import { ERROR_CATALOGUE, type ErrorCode } from '../../../src/engine/errors/error-catalogue.ts'
import { isLockError } from '../../../src/engine/errors/errors.ts'
import type { RefusalCode, Refused } from '../../../src/law/model/outcomes.ts'
import { createRefusalError } from '../../../src/locks/request/refusal-errors.ts'

const ERRORS: Readonly<Record<RefusalCode, ErrorCode>> = {
  held: 'LOCK_HELD',
  timeout: 'LOCK_WAIT_TIMEOUT',
  cancelled: 'LOCK_ABORTED',
  abandoned: 'LOCK_ENGINE_UNAVAILABLE',
  disconnected: 'LOCK_NO_SESSION',
  upgrade_conflict: 'LOCK_UPGRADE_CONFLICT',
  deadlock: 'LOCK_DEADLOCK',
  not_holder: 'LOCK_NOT_HOLDER',
  stale_token: 'LOCK_STALE_TOKEN',
  ended: 'LOCK_REQUEST_ENDED',
  in_use: 'LOCK_IN_USE',
  no_session: 'LOCK_NO_SESSION',
  bad_request: 'LOCK_INVALID_ARGUMENT',
  limit: 'LOCK_LIMIT',
}

const attempt = { what: 'acquire the write lock on "a"', key: 'a', wallMs: 60_000 }

function messageOf(refused: Refused, waitedMs?: number): string {
  const tried = waitedMs === undefined ? attempt : { ...attempt, waitedMs }
  return createRefusalError(refused, tried).message
}

describe('the errors of refusals', () => {
  it.each(Object.entries(ERRORS))('%s becomes %s and says what was tried', (code, expected) => {
    const error = createRefusalError({ kind: 'refused', code: code as RefusalCode }, attempt)
    expect(isLockError(error, expected)).toBe(true)
    expect(error.name).toBe(ERROR_CATALOGUE[expected].class)
    expect(error.message).toContain('acquire the write lock on "a"')
    expect(error).toMatchObject({ applied: 'no', details: { key: 'a', refusal: code } })
  })

  it('name who holds the lock, since when, and how many more', () => {
    const holder = { mode: 'read', token: 1, heldMs: 60_000, leaseMs: 1 } as const
    const holders = ['one', 'two', 'three'].map((owner) => ({ ...holder, owner }))
    expect(messageOf({ kind: 'refused', code: 'timeout', holders }, 250)).toBe(
      'gave up waiting to acquire the write lock on "a" after 250 ms: ' +
        'held by one (read) since 1970-01-01T00:00:00.000Z and 2 more',
    )
    expect(messageOf({ kind: 'refused', code: 'held', holders: [] })).toBe(
      'cannot acquire the write lock on "a": others are ahead in the queue',
    )
  })

  it('name the circle, the nodes and the detail', () => {
    expect(messageOf({ kind: 'refused', code: 'deadlock', cycle: ['p', 'q'] })).toMatch(
      /p waits for q waits for p$/,
    )
    expect(messageOf({ kind: 'refused', code: 'in_use', nodes: ['n1', 'n2'] })).toMatch(/n1, n2$/)
    expect(messageOf({ kind: 'refused', code: 'limit', detail: 'too many' })).toMatch(/too many$/)
    expect(messageOf({ kind: 'refused', code: 'ended', end: 'expired' })).toMatch(/\(expired\)$/)
  })
})
