import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as client from '../../../src/protocol/session/client-frames.ts'
import { writeCommand } from '../../../src/protocol/session/command-codec.ts'
import { writeOutcome } from '../../../src/protocol/session/outcome-codec.ts'
import { PackReader } from '../../../src/protocol/session/pack-reader.ts'
import { PackWriter } from '../../../src/protocol/session/pack-writer.ts'
import * as server from '../../../src/protocol/session/server-frames.ts'
import {
  commands,
  events,
  failures,
  filters,
  hellos,
  ids,
  losses,
  outcomes,
  OWN_SESSION,
  queries,
  replies,
  times,
  welcomes,
} from './arbitrary-messages.ts'
import { hearClient, hearServer, write } from './heard.ts'

describe('what was written is what is read', () => {
  it('every command, with every field, and whether it may be aborted', () => {
    fc.assert(
      fc.property(ids, commands, fc.boolean(), (id, command, mayAbort) => {
        const context = { id, ownSession: OWN_SESSION, mayAbort }
        const frame = write((writer) => writeCommand(writer, command, context))
        const asks = command.kind === 'acquire' || command.kind === 'begin'
        expect(hearClient(frame)).toEqual([['command', id, command, asks && mayAbort]])
      }),
      { numRuns: 1_000 },
    )
  })

  it('every outcome, exactly', () => {
    fc.assert(
      fc.property(ids, outcomes, (id, outcome) => {
        const frame = write((writer) => writeOutcome(writer, id, outcome))
        expect(hearServer(frame)).toStrictEqual([['outcome', id, outcome]])
      }),
      { numRuns: 1_000 },
    )
  })

  it('everything else that a client says', () => {
    fc.assert(
      fc.property(
        fc.record({
          id: ids,
          other: ids,
          hello: hellos,
          at: times,
          query: queries,
          filter: filters,
        }),
        ({ id, other, hello, at, query, filter }) => {
          const heartbeat = { sentAtMs: at, received: other }
          const frame = write(
            (writer) => client.writeHello(writer, hello),
            (writer) => client.writeHeartbeat(writer, heartbeat),
            (writer) => client.writeReceived(writer, other),
            (writer) => client.writeAbort(writer, id),
            (writer) => client.writeRead(writer, id, query),
            (writer) => client.writeWatch(writer, id, filter),
            (writer) => client.writeUnwatch(writer, id, other),
            (writer) => client.writeGoodbye(writer),
          )
          expect(hearClient(frame)).toEqual([
            ['hello', hello],
            ['heartbeat', heartbeat],
            ['received', other],
            ['abort', id],
            ['read', id, query],
            ['watch', id, filter],
            ['unwatch', id, other],
            ['goodbye'],
          ])
        },
      ),
      { numRuns: 300 },
    )
  })

  it('everything else that a server says', () => {
    fc.assert(
      fc.property(
        fc.record({
          id: ids,
          welcome: welcomes,
          at: times,
          failure: failures,
          reply: replies,
          event: events,
          lost: losses,
        }),
        ({ id, welcome, at, failure, reply, event, lost }) => {
          const frame = write(
            (writer) => server.writeFrameNumber(writer, id),
            (writer) => server.writeWelcome(writer, welcome),
            (writer) => server.writeBeat(writer, at),
            (writer) => server.writeFailure(writer, id, failure),
            (writer) => server.writeReply(writer, id, reply),
            (writer) => server.writeDone(writer, id),
            (writer) => server.writeEvent(writer, id, event),
            (writer) => server.writeLost(writer, lost),
            (writer) => server.writeOver(writer),
            (writer) => server.writeComeBack(writer, at),
            (writer) => server.writeComeBack(writer, undefined),
          )
          expect(hearServer(frame)).toEqual([
            ['frame', id],
            ['welcome', welcome],
            ['beat', at],
            ['failure', id, failure],
            ['reply', id, reply],
            ['done', id],
            ['event', id, event],
            ['lost', lost],
            ['over'],
            ['comeBack', at],
            ['comeBack', undefined],
          ])
        },
      ),
      { numRuns: 300 },
    )
  })

  it('every number, to the last bit', () => {
    const edges = [0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1]
    const all = fc.oneof(
      fc.maxSafeInteger(),
      fc.double(),
      fc.constantFrom(...edges, ...edges.map((edge) => -edge), -32, -33, -128, -129, -32_769),
    )
    fc.assert(
      fc.property(all, (value) => {
        const reader = new PackReader(write((writer) => writer.value([value])))
        expect(reader.open()).toBe(Object.is(value, -0) ? 0 : value)
      }),
      { numRuns: 2_000 },
    )
  })

  it('a frame that grew beyond its buffer, and the next one after it', () => {
    const writer = new PackWriter()
    for (const size of [10, 100_000, 3, 400_000, 5]) {
      const values = Array.from({ length: size }, (_, index) => index)
      client.writeRead(writer, 1, { kind: 'list', values } as never)
      expect(hearClient(writer.take())).toEqual([['read', 1, { kind: 'list', values }]])
    }
  })
})
