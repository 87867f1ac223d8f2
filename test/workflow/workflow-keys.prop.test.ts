import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KEY_BYTES_MAX } from '../../src/engine/validation/limits.ts'
import { problemWithName } from '../../src/engine/validation/names.ts'
import {
  toIterationKey,
  toNodeKey,
  toResourceKey,
  toWorkflowKey,
  tryParseWorkflowKey,
  type WorkflowKey,
} from '../../src/workflow/workflow-keys.ts'

/** Ids that are made of what could be mistaken for something else, and any others. */
const id = fc.oneof(
  fc.string({
    unit: fc.constantFrom(
      ':',
      '%',
      '%3A',
      '%25',
      '3',
      'A',
      '1',
      '0',
      ' ',
      '\n',
      '\u0085',
      'é',
      '\u{1f600}',
    ),
    minLength: 1,
    maxLength: 6,
  }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
)

const thing: fc.Arbitrary<WorkflowKey> = fc.oneof(
  fc.record({ kind: fc.constant('workflow' as const), workflowId: id }),
  fc.record({ kind: fc.constant('node' as const), workflowId: id, nodeId: id }),
  fc.record({
    kind: fc.constant('iteration' as const),
    workflowId: id,
    parentId: id,
    iteration: fc.oneof(fc.nat(20), fc.maxSafeNat()),
  }),
  fc.record({ kind: fc.constant('resource' as const), resourceType: id, resourceId: id }),
)

function toKey(one: WorkflowKey): string {
  switch (one.kind) {
    case 'workflow':
      return toWorkflowKey(one.workflowId)
    case 'node':
      return toNodeKey(one.workflowId, one.nodeId)
    case 'iteration':
      return toIterationKey(one.workflowId, one.parentId, one.iteration)
    case 'resource':
      return toResourceKey(one.resourceType, one.resourceId)
    default:
      return one satisfies never
  }
}

describe('the keys of a workflow', () => {
  it('look as they always have where ids are plain', () => {
    expect(toWorkflowKey('123')).toBe('workflow:123')
    expect(toNodeKey('123', 'fetch-calendars')).toBe('node:123:fetch-calendars')
    expect(toIterationKey('123', 'delete-loop', 5)).toBe('node:123:delete-loop:5')
    expect(toResourceKey('database', 'calendar_db')).toBe('resource:database:calendar_db')
  })

  it('give their parts back', () => {
    fc.assert(
      fc.property(thing, (one) => {
        expect({ ...tryParseWorkflowKey(toKey(one)) }).toEqual({ ...one })
      }),
    )
  })

  it('are the same for no two different things', () => {
    fc.assert(
      fc.property(thing, thing, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other)
        expect(toKey(one) === toKey(other)).toBe(isSame)
      }),
      { numRuns: 2_000 },
    )
  })

  it('are keys of a lock', () => {
    fc.assert(
      fc.property(thing, (one) => {
        expect(problemWithName(toKey(one), KEY_BYTES_MAX)).toBeUndefined()
      }),
    )
  })

  it('tell a turn of a loop from a node whose name looks like one', () => {
    expect(toNodeKey('1', 'loop:5')).toBe('node:1:loop%3A5')
    expect(toIterationKey('1', 'loop', 5)).toBe('node:1:loop:5')
    expect(tryParseWorkflowKey('node:1:loop:5')?.kind).toBe('iteration')
    expect(tryParseWorkflowKey('node:1:loop%3A5')?.kind).toBe('node')
  })

  it.each([
    '',
    'workflow',
    'workflow:',
    'workflow:1:2',
    'node:1',
    'node::x',
    'node:1:loop:five',
    'node:1:loop:05',
    'node:1:loop:9007199254740993',
    'node:1:loop:1:2',
    'resource:database',
    'other:1',
    'workflow:%3a',
    'workflow:%41',
    'workflow:%',
    'workflow:%FF',
    'Workflow:1',
  ])('do not include %j', (key) => {
    expect(tryParseWorkflowKey(key)).toBeNull()
  })

  it.each([
    ['an empty id', () => toWorkflowKey('')],
    ['half a character', () => toNodeKey('1', '\ud800')],
    ['a turn that is no number', () => toIterationKey('1', 'loop', 1.5)],
    ['a turn before the first', () => toIterationKey('1', 'loop', -1)],
  ])('are not made of %s', (_, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'LOCK_INVALID_ARGUMENT' }))
  })
})
