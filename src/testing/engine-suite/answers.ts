import assert from 'node:assert/strict'
import type { ErrorCode } from '../../engine/errors/error-catalogue.ts'
import { isLockError } from '../../engine/errors/errors.ts'
import type { Granted, Outcome, RefusalCode, Refused } from '../../law/model/outcomes.ts'

/** The answer as a grant; anything else fails the test. */
export function asGranted(outcome: Outcome): Granted {
  if (outcome.kind !== 'granted') assert.fail(`granted was due, not ${JSON.stringify(outcome)}`)
  return outcome
}

/** The answer as a refusal with this code; anything else fails the test. */
export function asRefused(outcome: Outcome, code: RefusalCode): Refused {
  if (outcome.kind !== 'refused' || outcome.code !== code) {
    assert.fail(`refused with ${code} was due, not ${JSON.stringify(outcome)}`)
  }
  return outcome
}

/** The place in the queue; anything but `queued` fails the test. */
export function asQueued(outcome: Outcome): number {
  if (outcome.kind !== 'queued') assert.fail(`queued was due, not ${JSON.stringify(outcome)}`)
  return outcome.position
}

/** That the call fails with this code and says that it changed nothing. */
export async function assertThrows(call: () => Promise<unknown>, code: ErrorCode): Promise<void> {
  let answer: unknown
  try {
    answer = await call()
  } catch (error) {
    if (!isLockError(error, code)) throw error
    assert.equal(error.applied, 'no', `a ${code} says that nothing was applied`)
    return
  }
  assert.fail(`${code} was due, not ${JSON.stringify(answer)}`)
}
