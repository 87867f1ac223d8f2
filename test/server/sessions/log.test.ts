import { beforeEach, expect, it } from 'vitest'
import { Log } from '../../../src/server/observe/log.ts'
import { tokensFor } from '../served.ts'
import { GRACE_MS, openSessionRig, patience } from './session-rig.ts'
import { RawClient } from './raw-client.ts'

let lines: Record<string, unknown>[] = []

beforeEach(() => {
  lines = []
})

const log = new Log({
  level: 'debug',
  form: 'json',
  write: (line) => {
    const { message, ...fields } = JSON.parse(line) as Record<string, unknown>
    if (String(message).startsWith('session')) lines.push({ message, ...fields })
  },
  wallMs: () => 0,
})

it('sessions are told of with the name that their client gave itself', async () => {
  const rig = await openSessionRig({ log })
  const client = await rig.client({ client: 'billing-3' })
  const told = { level: 'debug', session: client.session }
  const named = { ...told, client: 'billing-3' }
  expect(lines).toMatchObject([{ message: 'session opened', ...named }])
  client.ask(1, { kind: 'sweep' })
  await client.answer(1)
  client.cut()
  const again = await rig.client({ client: 'billing-3', session: client.session })
  expect(lines.slice(1)).toMatchObject([{ message: 'session resumed', ...named }])
  again.goodbye()
  await again.closed
  expect(lines.slice(2)).toMatchObject([{ message: 'session ended', reason: 'goodbye', ...told }])
})

it('so are those that did not come back', async () => {
  const rig = await openSessionRig({ log })
  const client = await rig.client()
  client.cut()
  await patience.until(async () => {
    await rig.clock.advance(GRACE_MS)
    return lines.length === 2
  }, 'it is given up')
  expect(lines[1]).toMatchObject({ message: 'session ended', reason: 'gone' })
})

it('whose it is, and who was refused, without a secret and without end', async () => {
  const rig = await openSessionRig({ log, tokens: tokensFor({ name: 'alice' }) })
  const hello = { client: 'x'.repeat(10_000) }
  const client = await RawClient.open(rig.url, hello, { authorization: 'Bearer alice-token' })
  expect(lines).toMatchObject([{ message: 'session opened', session: `alice/${client.session}` }])
  expect(String(lines[0]?.['client']).length).toBeLessThan(1_000)
  client.cut()
  const stranger = new RawClient(rig.url, { authorization: 'Bearer wrong' })
  await stranger.closed
  expect(lines[1]).toMatchObject({ message: 'session refused', status: 401 })
  expect(JSON.stringify(lines)).not.toMatch(/alice-token|wrong/)
})
