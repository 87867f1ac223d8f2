import { describe, expect, it } from 'vitest'
import type { SequentialModel } from '../../src/testing/linearizability.ts'
import type { ReadWriteOperation } from '../../src/testing/models/read-write-lock.ts'
import { readWriteLock } from '../../src/testing/models/read-write-lock.ts'
import type { ReferenceOperation } from '../../src/testing/models/reference-set.ts'
import { referenceSet } from '../../src/testing/models/reference-set.ts'

/** How many operations, one after the other, a model allows; the rest is refused. */
function countLegal<State, Operation>(
  model: SequentialModel<State, Operation>,
  operations: readonly Operation[],
): number {
  let state: State | null = model.initial
  for (const [index, operation] of operations.entries()) {
    state = model.step(state, operation)
    if (state === null) return index
  }
  return operations.length
}

type Story<Operation> = [name: string, isLegal: boolean, operations: Operation[]]

function tell<State, Operation>(
  model: SequentialModel<State, Operation>,
  [name, isLegal, operations]: Story<Operation>,
): void {
  it(`${isLegal ? 'allows' : 'refuses'} ${name}`, () => {
    const expected = isLegal ? operations.length : operations.length - 1
    expect(countLegal(model, operations)).toBe(expected)
  })
}

type Mode = 'read' | 'write'
type Shown = { token?: number; reads?: number; writes?: number; after?: number }
const get = (owner: string, mode: Mode, shown: Shown = {}): ReadWriteOperation => {
  return { kind: 'acquire', owner, mode, ...shown }
}
const free = (owner: string, mode?: Mode, token?: number): ReadWriteOperation => {
  return { kind: 'release', owner, mode, token }
}
const blocked = (owner: string, mode: Mode): ReadWriteOperation => ({
  kind: 'blocked',
  owner,
  mode,
})
const see = (...holders: { owner: string; reads?: number; writes?: number }[]) => {
  return { kind: 'read', holders } satisfies ReadWriteOperation
}
const end = (owner: string, token?: number): ReadWriteOperation => ({
  kind: 'expire',
  owner,
  token,
})
const conflict = (owner: string): ReadWriteOperation => ({ kind: 'upgrade-conflict', owner })

describe('the read-write lock of writers', () => {
  const enter = (owner: string, token?: number) =>
    get(owner, 'write', token === undefined ? {} : { token })
  const leave = (owner: string, token?: number) => free(owner, 'write', token)
  const busy = (owner: string) => blocked(owner, 'write')
  const foreign = (owner: string): ReadWriteOperation => ({ kind: 'not-holder', owner })
  const twice = [enter('a'), enter('a')]
  const stories: Story<ReadWriteOperation>[] = [
    ['a hand-over', true, [enter('a'), busy('b'), leave('a'), enter('b')]],
    ['a second owner', false, [enter('a'), enter('b')]],
    ['a refusal while it is free', false, [enter('a'), leave('a'), busy('b')]],
    ['a release by another owner', false, [enter('a'), leave('b')]],
    ['a second release', false, [enter('a'), leave('a'), leave('a')]],
    ['a refused release by another owner', true, [enter('a'), foreign('b')]],
    ['a refused release by the owner', false, [enter('a'), foreign('a')]],
    ['a take-over after the lease', true, [enter('a'), end('a'), enter('b'), foreign('a')]],
    ['the end of a lease of a free lock', false, [enter('a'), leave('a'), end('a')]],
    ['as many releases as entries', true, [...twice, leave('a'), leave('a'), enter('b')]],
    ['another owner before the last release', false, [...twice, leave('a'), enter('b')]],
    ['another owner after the lease, at any count', true, [...twice, end('a'), enter('b')]],
    ['growing tokens with gaps', true, [enter('a', 1), leave('a', 1), enter('b', 9)]],
    ['the same token twice', false, [enter('a', 1), leave('a', 1), enter('b', 1)]],
    ['a smaller token', false, [enter('a', 5), leave('a'), enter('a', 4)]],
    ['a release with an old token', false, [enter('a', 1), end('a'), enter('a', 2), leave('a', 1)]],
    ['an unknown token in between', true, [enter('a', 1), leave('a'), enter('b'), leave('b', 2)]],
    ['a token back after the lease', false, [enter('a', 1), end('a'), enter('b', 1)]],
    ['the same token on entering again', true, [enter('a', 3), enter('a', 3), leave('a')]],
    ['another token on entering again', false, [enter('a', 3), enter('a', 4)]],
    ['a token that shows up late', true, [enter('a'), enter('a', 4), leave('a', 4)]],
    ['two tokens for one hold', false, [enter('a'), enter('a', 4), leave('a', 5)]],
  ]
  for (const story of stories) tell(readWriteLock, story)
})

describe('the read-write lock', () => {
  const twoReaders = [get('a', 'read', { token: 1 }), get('b', 'read', { token: 2 })]
  const upgraded = [get('a', 'read', { token: 1 }), get('a', 'write', { token: 2 })]
  const force = (owner?: string): ReadWriteOperation => ({ kind: 'force', owner })
  const stale = (owner: string, token: number): ReadWriteOperation => {
    return { kind: 'stale-token', owner, token }
  }
  const refused = (owner: string, mode?: Mode): ReadWriteOperation => {
    return { kind: 'not-holder', owner, mode }
  }
  const renew = (owner: string, token?: number): ReadWriteOperation => {
    return { kind: 'renew', owner, token }
  }
  const stories: Story<ReadWriteOperation>[] = [
    [
      'many readers',
      true,
      [...twoReaders, see({ owner: 'b' }, { owner: 'a', reads: 1, writes: 0 })],
    ],
    ['a writer beside readers', false, [...twoReaders, get('c', 'write')]],
    ['a reader beside a writer', false, [get('a', 'write'), get('b', 'read')]],
    [
      'readers with one token',
      false,
      [get('a', 'read', { token: 1 }), get('b', 'read', { token: 1 })],
    ],
    ['an upgrade by the only reader', true, [...upgraded, blocked('b', 'read')]],
    ['an upgrade beside another reader', false, [...twoReaders, get('a', 'write', { token: 3 })]],
    ['an upgrade that keeps its token', false, [twoReaders[0]!, get('a', 'write', { token: 1 })]],
    ['a downgrade', true, [...upgraded, free('a', 'write', 2), get('b', 'read', { token: 3 })]],
    [
      'a writer between downgrade and release',
      false,
      [...upgraded, free('a', 'write'), get('b', 'write')],
    ],
    [
      'a re-entry that keeps its token',
      true,
      [...upgraded, get('a', 'write', { token: 2, writes: 2 })],
    ],
    ['a re-entry with a new token', false, [...upgraded, get('a', 'read', { token: 3 })]],
    ['a count that was taken twice', false, [get('a', 'write', { writes: 2 })]],
    ['a release without a mode, writing first', true, [...upgraded, free('a'), free('a', 'read')]],
    ['a release in a mode that is not held', false, [twoReaders[0]!, free('a', 'write')]],
    ['a refusal of that release', true, [twoReaders[0]!, refused('a', 'write')]],
    [
      'a refusal of a release in a mode that is held',
      false,
      [twoReaders[0]!, refused('a', 'read')],
    ],
    ['a refusal of a stale token', true, [twoReaders[0]!, stale('a', 7)]],
    ['a refusal of the right token', false, [twoReaders[0]!, stale('a', 1)]],
    ['a release with a stale token', false, [twoReaders[0]!, free('a', 'read', 7)]],
    ['a reader turned away by readers', true, [...twoReaders, blocked('c', 'read')]],
    [
      'somebody turned away from a free lock',
      false,
      [...upgraded, end('a', 2), blocked('b', 'read')],
    ],
    ['a reader in its own way', false, [twoReaders[0]!, blocked('a', 'read')]],
    ['an upgrade in nobody’s way', false, [twoReaders[0]!, blocked('a', 'write')]],
    ['a conflict of two readers', true, [...twoReaders, conflict('a')]],
    ['a conflict of a lonely reader', false, [twoReaders[0]!, conflict('a')]],
    [
      'an expiry that ends the whole hold',
      true,
      [...upgraded, end('a', 2), get('b', 'write', { token: 3 })],
    ],
    ['an expiry of an earlier hold', false, [...upgraded, end('a', 1)]],
    ['a renewal of a hold', true, [...upgraded, renew('a', 2)]],
    ['a renewal after the end', false, [...upgraded, end('a'), renew('a')]],
    ['a forced end of one owner', true, [...twoReaders, force('a'), see({ owner: 'b' })]],
    ['a forced end of all', true, [...twoReaders, force(), see()]],
    [
      'a token that shows up late, after a greater one',
      true,
      [get('a', 'read'), twoReaders[1]!, get('a', 'read', { token: 1 })],
    ],
    [
      'a token that shows up late and is too old',
      false,
      [twoReaders[1]!, get('a', 'read'), get('a', 'read', { token: 1 })],
    ],
    [
      'a grant after the one that it followed',
      true,
      [twoReaders[0]!, get('b', 'read', { token: 2, after: 1 })],
    ],
    ['a grant before the one that it followed', false, [get('b', 'read', { token: 2, after: 1 })]],
    ['a holder that is not shown', false, [...twoReaders, see({ owner: 'a' })]],
    ['wrong counts', false, [twoReaders[0]!, see({ owner: 'a', reads: 2 })]],
  ]
  for (const story of stories) tell(readWriteLock, story)
})

const add = (node: string): ReferenceOperation => ({ kind: 'add', node })
const offer = (node: string): ReferenceOperation => ({ kind: 'add', node, isUnclaimed: true })
const loseUnclaimed = (node: string): ReferenceOperation => ({ kind: 'lapse', node })
const drop = (node: string): ReferenceOperation => ({ kind: 'drop', node })
const begin: ReferenceOperation = { kind: 'delete-begin', owner: 'd' }
const finish = (success: boolean): ReferenceOperation => ({
  kind: 'delete-end',
  owner: 'd',
  success,
})
const list = (...nodes: string[]): ReferenceOperation => ({ kind: 'read', nodes })
const inUse = (...nodes: string[]): ReferenceOperation => ({ kind: 'in-use', nodes })

describe('the reference set', () => {
  const stories: Story<ReferenceOperation>[] = [
    ['a set that counts a node once', true, [add('b'), add('a'), add('b'), list('a', 'b')]],
    ['a node shown twice', false, [add('a'), add('b'), list('a', 'a')]],
    ['a node that dropped its reference', true, [add('a'), drop('a'), list(), begin]],
    ['dropping what is not there', true, [drop('a'), list()]],
    [
      'a reference that its node never claimed',
      true,
      [offer('a'), list('a'), loseUnclaimed('a'), begin],
    ],
    ['a reference that its node has claimed', false, [offer('a'), add('a'), loseUnclaimed('a')]],
    ['a reference that was claimed before', false, [add('a'), offer('a'), loseUnclaimed('a')]],
    ['a delete of what may still be claimed', false, [offer('a'), begin]],
    ['a delete of what is in use', false, [add('a'), begin]],
    ['a refusal that names the users', true, [add('a'), add('b'), inUse('b', 'a')]],
    ['a refusal that names others', false, [add('a'), inUse('b')]],
    ['a refusal while nobody uses it', false, [add('a'), drop('a'), { kind: 'in-use' }]],
    ['a pull while a delete runs', false, [begin, add('a')]],
    ['a pull after a delete', true, [begin, finish(true), add('a'), list('a')]],
    ['the end of a delete that is not running', false, [begin, finish(false), finish(true)]],
    [
      'a second delete after the lease',
      true,
      [begin, { kind: 'delete-expire', owner: 'd' }, begin],
    ],
  ]
  for (const story of stories) tell(referenceSet, story)
})
