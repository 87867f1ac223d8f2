import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OpenRequest } from '../locks/lock-rig.ts'
import type { Answer } from './plain-http.ts'
import { OperationsRig } from './operations-rig.ts'

let rig: OperationsRig

const digest = (token: string): Buffer => createHash('sha256').update(token).digest()
const bearer = (name: string): { authorization: string } => ({ authorization: `Bearer ${name}-1` })

beforeEach(async () => {
  const entry = (name: string, prefixes?: string[]) => ({
    principal: { name, role: 'client' as const, prefixes },
    digests: [digest(`${name}-1`)],
  })
  rig = await OperationsRig.open({}, { tokens: [entry('red'), entry('blue', ['layer'])] })
})

afterEach(() => rig.close())

async function queue(): Promise<string[]> {
  const query = { kind: 'inspect', namespace: 'operation', key: 'layer' } as const
  const { queue: waiting } = await rig.engine.read(query)
  return waiting.map(({ owner }) => owner)
}

function ask(who: string, path: string, body: Record<string, unknown>): Promise<Answer> {
  const asked = { type: 'pull', resource_id: 'layer', ...body }
  return rig.post(path, asked, { headers: bearer(who) })
}

describe('principals that run operations', () => {
  it('have nodes of their own, although these have the same name', async () => {
    expect((await ask('red', '/lock', { node_id: 'n' })).body).toMatchObject({ acquired: true })
    expect((await ask('blue', '/lock', { node_id: 'n' })).body).toMatchObject({ position: 1 })
    const stranger = await ask('blue', '/unlock', { node_id: 'n' })
    expect([stranger.status, stranger.body['code']]).toEqual([403, 'not_holder'])
  })

  it('hear of their own nodes by the names that they gave them, and of others by whole names', async () => {
    await ask('red', '/lock', { node_id: 'n' })
    await ask('blue', '/lock', { node_id: 'n' })
    const red = await rig.subscribe({}, bearer('red'))
    const blue = await rig.subscribe({ node_id: 'n' }, bearer('blue'))
    await ask('red', '/unlock', { node_id: 'n', error: 'no' })
    expect(await blue.untilEvents(1)).toMatchObject([{ node_id: 'n', granted: true }])
    expect(await red.untilEvents(1)).toMatchObject([{ node_id: 'blue/n', granted: true }])
    const late = await rig.subscribe({ node_id: 'n' }, bearer('blue'))
    expect(await late.untilEvents(1)).toMatchObject([{ node_id: 'n', granted: true }])
  })

  it('leave the queue when the connection breaks on which a node waits', async () => {
    await ask('red', '/lock', { node_id: 'n' })
    const begin = { type: 'pull', resource: 'layer', node: 'n', wait_ms: 'forever' }
    const wait = new OpenRequest(`${rig.url}/v1/begin`, begin, bearer('blue'))
    await expect.poll(queue).toEqual(['pull:blue/n'])
    wait.hangUp()
    await expect.poll(queue).toEqual([])
  })

  it('do not listen where they may not touch', async () => {
    const path = '/lock/subscribe?type=pull&resource_id=other'
    const { status, text } = await rig.get(path, { headers: bearer('blue') })
    expect(status).toBe(403)
    expect(text).not.toMatch(/timeout|connection|network|eof|refused/i)
  })

  it('are nobody without a token', async () => {
    for (const path of ['/lock/subscribe?type=pull&resource_id=layer', '/refs?resource_id=layer']) {
      expect((await rig.get(path)).status).toBe(401)
    }
    expect((await rig.lock({ node_id: 'n' })).status).toBe(401)
  })
})
