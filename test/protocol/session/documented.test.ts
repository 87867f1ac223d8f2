import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as client from '../../../src/protocol/session/client-frames.ts'
import { writeCommand } from '../../../src/protocol/session/command-codec.ts'
import {
  CLIENT_OPS,
  COMMAND_OPS,
  OUTCOME_OPS,
  SERVER_OPS,
} from '../../../src/protocol/session/message-codes.ts'
import { writeOutcome } from '../../../src/protocol/session/outcome-codec.ts'
import type { PackWriter } from '../../../src/protocol/session/pack-writer.ts'
import * as server from '../../../src/protocol/session/server-frames.ts'
import { CLOSE_CODES } from '../../../src/protocol/session/session-limits.ts'
import { write } from './heard.ts'

const PAGE = readFileSync(new URL('../../../docs/session-protocol.md', import.meta.url), 'utf8')

const acquire = {
  kind: 'acquire',
  key: 'orders/42',
  owner: 'a-1',
  requestId: '1',
  mode: 'write',
  ttlMs: 30_000,
  waitMs: Number.POSITIVE_INFINITY,
  session: 'own',
} as const

/** The examples of the page, by the words that stand before them. */
const EXAMPLES: Readonly<Record<string, (writer: PackWriter) => void>> = {
  'hello of a new client': (writer) =>
    client.writeHello(writer, {
      version: 1,
      client: 'billing-3',
      session: undefined,
      received: 0,
      pulse: false,
    }),
  'acquire, in this session, for ever': (writer) =>
    writeCommand(writer, acquire, { id: 1, ownSession: 'own', mayAbort: false }),
  'release of that': (writer) =>
    writeCommand(
      writer,
      { kind: 'release', key: 'orders/42', owner: 'a-1', mode: 'write', token: 17 },
      { id: 2, ownSession: 'own', mayAbort: false },
    ),
  'a frame with the answers to both': (writer) => {
    server.writeFrameNumber(writer, 1)
    writeOutcome(writer, 1, {
      kind: 'granted',
      mode: 'write',
      token: 17,
      reads: 0,
      writes: 1,
      leaseMs: 30_000,
    })
    writeOutcome(writer, 2, { kind: 'released', reads: 0, writes: 0 })
  },
  'a refusal': (writer) => writeOutcome(writer, 3, { kind: 'refused', code: 'stale_token' }),
  'a heartbeat that confirms frame 1': (writer) =>
    client.writeHeartbeat(writer, { sentAtMs: 1_500, received: 1 }),
  'its beat': (writer) => server.writeBeat(writer, 1_500),
  'good-bye': (writer) => client.writeGoodbye(writer),
}

it.each(Object.entries(EXAMPLES))('the page shows the bytes of %s', (title, message) => {
  const hex = Buffer.from(write(message))
    .toString('hex')
    .replaceAll(/(..)(?!$)/g, '$1 ')
  const lines = hex.match(/.{1,95}(?: |$)/g)?.map((line) => line.trim()) ?? []
  expect(PAGE).toContain(`${title}:\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\``)
})

it('the page lists every code under its name', () => {
  const rows = { ...CLIENT_OPS, ...COMMAND_OPS, ...SERVER_OPS, ...OUTCOME_OPS }
  const shown = (name: string): string => (name === 'comeBack' ? 'come-back' : name)
  const missing = Object.entries(rows).filter(
    ([name, code]) => !PAGE.includes(`| ${code} | \`${shown(name)}\` |`),
  )
  expect(missing).toEqual([])
})

it('the page lists every close code', () => {
  const missing = Object.values(CLOSE_CODES).filter((code) => !PAGE.includes(`| ${code} |`))
  expect(missing).toEqual([])
})
