import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  isDurable,
  readChange,
  writeChange,
} from '../../../src/engines/embedded/records/record-codec.ts'
import { RecordReader } from '../../../src/engines/embedded/records/record-reader.ts'
import { RecordWriter } from '../../../src/engines/embedded/records/record-writer.ts'
import type { Change } from '../../../src/law/model/changes.ts'
import type { Hold } from '../../../src/law/model/view.ts'

const RECKONING = {
  nowMs: 5_000,
  claimWindowMs: 10_000,
  referencePatienceMs: 90_000,
  retentionMs: 300_000,
}

const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 })
const maybe = fc.option(name, { nil: undefined })
const mode = fc.constantFrom('read' as const, 'write' as const)
const integer = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })

const step = fc.record(
  {
    requestId: name,
    mode,
    claimByMs: fc.constantFrom(
      null,
      Number.POSITIVE_INFINITY,
      RECKONING.nowMs + RECKONING.claimWindowMs,
    ),
    tokenBefore: integer,
    joined: fc.array(name, { maxLength: 3 }),
  },
  { requiredKeys: ['requestId', 'mode', 'claimByMs'] },
)

const facts = fc.record({
  type: name,
  node: name,
  version: maybe,
  coordination: fc.constantFrom('server' as const, 'client' as const, 'mutex' as const),
})

const hold: fc.Arbitrary<Hold> = fc
  .record({
    owner: name,
    party: name,
    session: maybe,
    meta: maybe,
    token: integer,
    ttlMs: fc.integer({ min: 100, max: 86_400_000 }),
    steps: fc.array(step, { minLength: 1, maxLength: 5 }),
    operation: fc.option(facts, { nil: undefined }),
  })
  .map((fields) => {
    const writes = fields.steps.filter((one) => one.mode === 'write').length
    const reads = fields.steps.length - writes
    // A clock does not survive the process: what is read starts anew at the moment of reading.
    const leaseAtMs = RECKONING.nowMs + fields.ttlMs
    return { ...fields, reads, writes, leaseAtMs, sinceMs: RECKONING.nowMs }
  })

const answer = fc.oneof(
  fc.record({
    kind: fc.constant('hold-ended' as const),
    end: fc.constantFrom('released' as const, 'unclaimed' as const),
  }),
  fc.record({
    kind: fc.constant('refused' as const),
    code: fc.constantFrom('held' as const, 'in_use' as const),
  }),
  fc.record({ kind: fc.constant('skip' as const), value: maybe }),
  fc.record({ kind: fc.constant('dissolved' as const), node: name }),
  fc.record({ kind: fc.constant('released' as const), reads: fc.nat(64), writes: fc.nat(64) }),
  fc.record({ kind: fc.constant('finished' as const), success: fc.boolean() }),
)

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant('hold-set' as const), hold, leaseOnly: fc.constant(false) }),
  fc.record({
    kind: fc.constant('end-remembered' as const),
    volatile: fc.constant(false),
    ended: fc.record({
      verb: fc.constantFrom('acquire' as const, 'release' as const),
      owner: name,
      requestId: name,
      mode: fc.option(mode, { nil: undefined }),
      atMs: fc.constant(RECKONING.nowMs),
      answer,
    }),
  }),
  fc.record({
    kind: fc.constant('reference-set' as const),
    reference: fc.record({
      node: name,
      claimByMs: fc.constantFrom(null, RECKONING.nowMs + RECKONING.referencePatienceMs),
    }),
  }),
  fc.record({ kind: fc.constant('reference-dropped' as const), node: name }),
  fc.record({
    kind: fc.constant('success-remembered' as const),
    remembered: fc.record({
      type: name,
      version: maybe,
      node: name,
      value: maybe,
      replayOnly: fc.boolean(),
      atMs: fc.constant(RECKONING.nowMs),
      untilMs: fc.constant(RECKONING.nowMs + RECKONING.retentionMs),
    }),
  }),
  fc.record({ kind: fc.constant('success-forgotten' as const), type: name }),
)

it('what was written is read back the same, for every change that lasts', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
      const writer = new RecordWriter()
      for (const one of changes) {
        expect(isDurable(one)).toBe(true)
        writeChange(writer, one)
      }
      const reader = new RecordReader(writer.take())
      const read: Change[] = []
      while (!reader.isAtEnd) read.push(readChange(reader, RECKONING))
      expect(read).toEqual(changes)
    }),
  )
})

it('a record that ends too early is a defect, not a value', () => {
  const writer = new RecordWriter()
  writeChange(writer, { kind: 'reference-dropped', node: 'node-a' })
  const record = Buffer.from(writer.take())
  for (let length = 1; length < record.length; length += 1) {
    const reader = new RecordReader(record.subarray(0, length))
    expect(() => readChange(reader, RECKONING)).toThrow('ends too early')
  }
})
