import { isDeepStrictEqual } from 'node:util'
import { assert, unreachable } from '../../../src/law/assert.ts'
import type { Change, HoldSet } from '../../../src/law/model/changes.ts'
import type { Hold, Reference, Waiter } from '../../../src/law/model/view.ts'
import { type KeyState, rememberEnd } from './plain-view.ts'

/**
 * The state after the changes, in order. It trusts nothing: a change that names what is not there, or
 * adds what is there already, is a defect of the law.
 */
export function applyChanges(state: KeyState, changes: readonly Change[]): KeyState {
  return changes.reduce(applyChange, state)
}

function applyChange(state: KeyState, change: Change): KeyState {
  switch (change.kind) {
    case 'hold-set':
      return setHold(state, change)
    case 'hold-ended':
      return endHold(state, change.hold)
    case 'waiter-added':
      return addWaiter(state, change.waiter)
    case 'waiter-kept':
      return keepWaiter(state, change.before, change.waiter)
    case 'waiter-gone':
      return removeWaiter(state, change.waiter)
    case 'end-remembered':
      return { ...state, ended: rememberEnd(state.ended, change.ended) }
    case 'lane-passed':
      return passLane(state, change.lane, change.passes)
    case 'reference-set':
      return { ...state, references: setReference(state.references, change.reference) }
    case 'reference-dropped': {
      const references = state.references.filter(({ node }) => node !== change.node)
      assert(references.length < state.references.length, `${change.node} does not reference it`)
      return { ...state, references }
    }
    case 'success-remembered': {
      const { remembered } = change
      const others = state.remembered.filter((entry) => entry.type !== remembered.type)
      return { ...state, remembered: [...others, remembered] }
    }
    case 'success-forgotten':
      return {
        ...state,
        remembered: state.remembered.filter((entry) => entry.type !== change.type),
      }
    default:
      return unreachable(change)
  }
}

function setReference(before: readonly Reference[], reference: Reference): readonly Reference[] {
  const at = before.findIndex(({ node }) => node === reference.node)
  if (at < 0) return [...before, reference]
  assert(before[at]?.claimByMs !== null, `${reference.node} has claimed its reference already`)
  return before.with(at, reference)
}

function setHold(state: KeyState, { hold, leaseOnly }: HoldSet): KeyState {
  const before = state.holds.find((other) => other.owner === hold.owner)
  const reads = hold.steps.filter((step) => step.mode === 'read').length
  const writes = hold.steps.filter((step) => step.mode === 'write').length
  assert(reads === hold.reads && writes === hold.writes, 'a hold counts its steps')
  assert(reads + writes > 0, 'a hold without a step has ended')
  if (leaseOnly) assertOnlyLeaseMoved(before, hold)
  const holds = before
    ? state.holds.map((other) => (other === before ? hold : other))
    : [...state.holds, hold]
  return { ...state, holds, token: Math.max(state.token, hold.token) }
}

function assertOnlyLeaseMoved(before: Hold | undefined, hold: Hold): void {
  const unmoved = { ...hold, leaseAtMs: before?.leaseAtMs }
  assert(isDeepStrictEqual(unmoved, before), 'only the lease moved')
}

function endHold(state: KeyState, hold: Hold): KeyState {
  const holds = state.holds.filter((other) => other.owner !== hold.owner)
  assert(holds.length === state.holds.length - 1, `${hold.owner} holds it`)
  return { ...state, holds }
}

function isSame(left: Waiter, right: Waiter): boolean {
  return left.owner === right.owner && left.requestId === right.requestId
}

function addWaiter(state: KeyState, waiter: Waiter): KeyState {
  assert(!state.waiters.some((other) => isSame(other, waiter)), `${waiter.owner} waits already`)
  return { ...state, waiters: [...state.waiters, waiter] }
}

function keepWaiter(state: KeyState, before: Waiter, after: Waiter): KeyState {
  assert(isSame(before, after), 'a waiter keeps its name')
  assert(before.lane === after.lane, 'a waiter keeps its lane')
  assert(
    state.waiters.some((other) => isSame(other, before)),
    `${before.owner} waits`,
  )
  return {
    ...state,
    waiters: state.waiters.map((other) => (isSame(other, before) ? after : other)),
  }
}

function removeWaiter(state: KeyState, waiter: Waiter): KeyState {
  const waiters = state.waiters.filter((other) => !isSame(other, waiter))
  assert(waiters.length === state.waiters.length - 1, `${waiter.owner} waits`)
  return { ...state, waiters }
}

function passLane(state: KeyState, lane: number, passes: number): KeyState {
  const length = Math.max(state.passes.length, lane + 1)
  const counts = Array.from({ length }, (_, index) => state.passes[index] ?? 0)
  return { ...state, passes: counts.with(lane, passes) }
}
