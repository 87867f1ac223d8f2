import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { writeMessage } from '../../../src/wire/session/message-codec.ts'
import { MESSAGE_TABLE } from '../../../src/wire/session/message-table.ts'
import { PackWriter } from '../../../src/wire/session/pack-writer.ts'
import { CLOSE_CODES, SESSION_VERSION } from '../../../src/wire/session/session-limits.ts'
import type { Heard } from './heard.ts'

const PAGE = readFileSync(new URL('../../../docs/session-protocol.md', import.meta.url), 'utf8')

const acquire = {
  kind: 'acquire',
  key: 'orders/42',
  owner: 'a-1',
  requestId: '1',
  mode: 'write',
  ttlMs: 10_000,
  waitMs: Number.POSITIVE_INFINITY,
  session: 'own',
} as const
const released = { kind: 'released', reads: 0, writes: 0 } as const
const granted = { kind: 'granted', mode: 'write', token: 17, reads: 0, writes: 1 } as const

/** The examples of the page, by the words that stand before them. */
const EXAMPLES: Readonly<Record<string, readonly Heard[]>> = {
  'hello of a new client': [[SESSION_VERSION, { kind: 'hello', client: 'billing-3' }]],
  'acquire in this session, with a wait that has no end': [[0, acquire]],
  'release of that': [
    [1, { kind: 'release', key: 'orders/42', owner: 'a-1', mode: 'write', token: 17 }],
  ],
  'a frame with the answers to both': [
    [0, { ...granted, leaseMs: 10_000 }],
    [1, released],
  ],
  'a refusal': [[3, { kind: 'refused', code: 'stale_token' }]],
  'a heartbeat': [[1_500, { kind: 'heartbeat' }]],
  'its answer': [[1_500, { kind: 'heard', losses: 42 }]],
  'good-bye': [[0, { kind: 'goodbye' }]],
}

it.each(Object.entries(EXAMPLES))('the page shows the bytes of %s', (title, messages) => {
  const writer = new PackWriter()
  writer.ownSession = 'own'
  for (const [number, message] of messages) writeMessage(writer, number, message)
  const hex = writer
    .take()
    .toString('hex')
    .replaceAll(/(..)(?!$)/g, '$1 ')
  const lines = hex.match(/.{1,95}(?: |$)/g)?.map((line) => line.trim()) ?? []
  expect(PAGE).toContain(`${title}:\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\``)
})

it('the page lists every message with its code and its fields', () => {
  const rows = Object.entries(MESSAGE_TABLE).map(([kind, [code, fields]]) => {
    const shown = Object.entries(fields).map(([name, type]) => `${name}: ${type}`)
    return `| ${code} | \`${kind}\` | ${shown.join(', ')} |`
  })
  expect(rows.filter((row) => !PAGE.includes(row.replace(' |  |', ' | |')))).toEqual([])
})

it('the page lists every close code', () => {
  const missing = Object.values(CLOSE_CODES).filter((code) => !PAGE.includes(`| ${code} |`))
  expect(missing).toEqual([])
})
