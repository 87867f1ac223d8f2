import { afterEach, describe, expect, it } from 'vitest'
import { createError } from '../../../src/engine/errors/errors.ts'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { LockServer } from '../../../src/server/lock-server.ts'
import { OperationsRig } from './operations-rig.ts'
import { ask } from './plain-http.ts'

/** Clients in the field try again when the text of an error, our body included, has one of these in it. */
const RETRIED = /timeout|connection|network|eof|refused/i

let rig: OperationsRig | undefined

afterEach(() => rig?.close())

describe('an answer that asking again does not change', () => {
  it.each([
    ['/lock', { type: 'pull', resource_id: 'r' }],
    ['/lock', { type: 'pull', resource_id: 'r', node_id: 'n'.repeat(999) }],
    ['/lock', { type: 'no way', resource_id: 'r', node_id: 'n' }],
    ['/lock', { type: 'pull', resource_id: 'r', node_id: 'n', ttl_ms: -1 }],
    ['/lock', { type: 'pull', resource_id: 'r', node_id: 'n', wait_ms: -1 }],
    ['/lock', { type: 'pull', resource_id: 'r', node_id: 'n', session: 'none' }],
    ['/lock', { type: 'pull', resource_id: 'r', node_id: 'n', x: 'x'.repeat(20_000) }],
    ['/lock', '{'],
    ['/unlock', { type: 'pull', resource_id: 'r', node_id: 'n' }],
    ['/unlock', { type: 'pull', resource_id: 'r', node_id: 'n', error: 'e'.repeat(5_000) }],
    ['/lock/status', { type: 'pull' }],
    ['/unref', {}],
    ['/nowhere', {}],
  ])('has none of the words: %s, case %#', async (path, body) => {
    rig = await OperationsRig.open()
    const { status, text } = await rig.post(path, body)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text).not.toMatch(RETRIED)
  })

  it('has none of the words either when nodes are called like them', async () => {
    rig = await OperationsRig.open({ multiNode: false })
    await rig.lock({ node_id: 'network-1' })
    const held = await rig.lock({ node_id: 'node-b' })
    expect(held.status).toBe(403)
    expect(held.body['error']).not.toMatch(RETRIED)
    await rig.unlock({ node_id: 'network-1' })
    const inUse = await rig.lock({ type: 'delete', node_id: 'node-b' })
    expect(inUse.body).toMatchObject({ code: 'in_use', nodes: ['network-1'] })
    expect(inUse.body['error']).not.toMatch(RETRIED)
  })

  it('has none of the words after a lease ran out or a session ended', async () => {
    rig = await OperationsRig.open()
    await rig.lock({ node_id: 'node-a', ttl_ms: 1_000, request_id: 'r1' })
    await rig.advance(1_000)
    const late = await rig.unlock({ node_id: 'node-a' })
    expect([late.status, late.body['code']]).toEqual([403, 'not_holder'])
    expect(late.text).not.toMatch(RETRIED)
    expect((await rig.lock({ node_id: 'node-a', request_id: 'r1' })).text).not.toMatch(RETRIED)
  })
})

describe('an answer that asking again may change', () => {
  it('has one of the words: the queue is full', async () => {
    rig = await OperationsRig.open({ waitersPerKeyMax: 1 })
    await rig.lock({ node_id: 'node-a' })
    await rig.lock({ node_id: 'node-b' })
    const { status, text, headers } = await rig.lock({ node_id: 'node-c' })
    expect([status, headers['retry-after']]).toEqual([429, '1'])
    expect(text).toMatch(RETRIED)
  })

  it.each(['/lock', '/unlock'])('has one of the words: the engine fails at %s', async (path) => {
    const engine = openMemoryEngine()
    const fail = () => Promise.reject(createError('LOCK_ENGINE_UNAVAILABLE', 'secret text'))
    const failing: LockEngine = Object.create(engine, {
      apply: { value: fail },
      read: { value: engine.read.bind(engine) },
      watch: { value: engine.watch.bind(engine) },
    })
    const server = await LockServer.open({ engine: failing })
    const body = { type: 'pull', resource_id: 'r', node_id: 'n' }
    const { status, text } = await ask(server.url, { method: 'POST', path, body })
    await server.close()
    await engine.close()
    expect(status).toBe(503)
    expect(text).toMatch(RETRIED)
    expect(text).not.toContain('secret')
  })
})
