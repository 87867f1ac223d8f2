import { afterEach, beforeEach, expect, it } from 'vitest'
import { type LockRig, openRig } from './lock-rig.ts'

let rig: LockRig

beforeEach(async () => {
  rig = await openRig()
})

afterEach(() => rig.close())

async function batch(items: unknown): Promise<{ status: number; answers: unknown }> {
  const { status, body } = await rig.post('/v1/batch', items)
  return { status, answers: body }
}

it('a batch is answered in order, each item with its status', async () => {
  const { status, answers } = await batch([
    { op: 'acquire', key: 'k', owner: 'a' },
    { op: 'acquire', key: 'k', owner: 'b' },
    { op: 'release', key: 'k', owner: 'a' },
    { op: 'acquire', key: 'k', owner: 'b' },
    { op: 'release', key: 'k', owner: 'a' },
    { op: 'renew', key: 'k', owner: 'b', ttl_ms: 60_000 },
  ])
  expect(status).toBe(200)
  expect(answers).toMatchObject([
    { status: 200, outcome: 'granted', token: 1 },
    { status: 409, outcome: 'refused', code: 'held' },
    { status: 200, released: true },
    { status: 200, outcome: 'granted', token: 2 },
    { status: 403, code: 'not_holder' },
    { status: 200, renewed: true, lease_ms: 60_000 },
  ])
})

it('an item that is wrong is refused alone', async () => {
  const { status, answers } = await batch([
    { op: 'acquire', key: '', owner: 'a' },
    { op: 'force', key: 'k' },
    'release',
    null,
    { op: 'acquire', key: 'k', owner: 'a', wait_ms: 1_000 },
    { op: 'begin', type: 'pull', resource: 'r', node: 'n', wait_ms: 'forever' },
    { op: 'acquire', key: 'k', owner: 'a' },
    { op: 'acquire', key: 'k', owner: 'b', wait_ms: 1_000, detach: true },
  ])
  expect(status).toBe(200)
  expect(answers).toMatchObject([
    { status: 400, field: 'key' },
    { status: 400, field: 'op' },
    { status: 400, field: 'op' },
    { status: 400, field: 'op' },
    { status: 400, field: 'wait_ms' },
    { status: 400, field: 'wait_ms' },
    { status: 200, outcome: 'granted' },
    { status: 200, outcome: 'queued', position: 1 },
  ])
})

it('a batch takes a thousand items in up to 256 KiB, and no more', async () => {
  const items = Array.from({ length: 1_000 }, (_, index) => ({
    op: 'acquire',
    key: `key-${index}`,
    owner: 'a',
  }))
  const { answers } = await batch(items)
  expect((answers as { status: number }[]).filter(({ status }) => status === 200)).toHaveLength(
    1000,
  )
  expect((await batch([...items, items[0]])).status).toBe(400)
  const long = { ...items[0], meta: { text: 'x'.repeat(256 * 1024) } }
  expect((await batch([long])).status).toBe(413)
})
