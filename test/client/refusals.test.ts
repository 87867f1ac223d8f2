import { describe, expect, it } from 'vitest'
import { LockClient } from '../../src/client/lock-client.ts'
import type { LockClientOptions } from '../../src/client/lock-client-options.ts'
import { serve, tokensFor } from '../server/served.ts'
import { sendJson, StubServer } from './stub-server.ts'

const PULL = { type: 'pull', resourceId: 'orders/1' }

/** What `lock` asks first. */
const FIRST = { events: '/lock/subscribe', polling: '/lock' } as const

describe.each(['events', 'polling'] as const)('a lock client that waits by %s', (waitBy) => {
  function create(server: string, options: Partial<LockClientOptions> = {}): LockClient {
    return new LockClient({ server, nodeId: 'node-a', retryInterval: 1, waitBy, ...options })
  }

  it.each([
    { how: 'without a token', status: 401, text: 'a bearer token is needed' },
    { how: 'with a wrong token', token: 'wrong', status: 401, text: 'this token is not known' },
    { how: 'to keys of others', token: 'worker-token', key: 'other/1', status: 403, text: /right/ },
  ])('is not let in $how, and hears why', async ({ token, key = 'orders/1', status, text }) => {
    const served = await serve({ tokens: tokensFor({ name: 'worker', prefixes: ['orders/'] }) })
    await using client = create(served.server.url, { token })
    const operation = { type: 'pull', resourceId: key }
    for (const { error } of [await client.lock(operation), await client.unlock(operation)]) {
      expect(error).toMatchObject({ code: 'LOCK_FORBIDDEN', retryable: false, details: { status } })
      expect(error?.details['error']).toMatch(text)
      expect(error?.message).toBe(`${String(error?.details['error'])} (${status})`)
    }
    await expect(client.refs(key)).rejects.toMatchObject({ code: 'LOCK_FORBIDDEN' })
    await served.close()
  })

  it.each([
    [408, 'LOCK_ENGINE_UNAVAILABLE', 'no'],
    [429, 'LOCK_LIMIT', 'no'],
    [502, 'LOCK_ENGINE_UNAVAILABLE', 'maybe'],
    [503, 'LOCK_ENGINE_UNAVAILABLE', 'maybe'],
    [504, 'LOCK_ENGINE_UNAVAILABLE', 'maybe'],
  ])('asks again after %i, as often as it may', async (status, code, applied) => {
    await using stub = await StubServer.listen(({ response }) => {
      sendJson(response, status, { error: 'not now' })
    })
    await using client = create(stub.url, { maxRetries: 2 })
    const { error } = await client.lock(PULL)
    expect(error).toMatchObject({ code, applied, message: `not now (${status})` })
    expect(stub.timesOf(FIRST[waitBy])).toHaveLength(3)
  })

  it.each([
    [400, 'LOCK_INVALID_ARGUMENT'],
    [401, 'LOCK_FORBIDDEN'],
    [403, 'LOCK_FORBIDDEN'],
    [404, 'LOCK_ENGINE_UNAVAILABLE'],
    [413, 'LOCK_INVALID_ARGUMENT'],
    [500, 'LOCK_ENGINE_UNAVAILABLE'],
  ])('does not ask again after %i', async (status, code) => {
    await using stub = await StubServer.listen(({ response }) => {
      sendJson(response, status, { error: 'no' })
    })
    await using client = create(stub.url)
    const { error } = await client.lock(PULL)
    expect(error).toMatchObject({ code, message: `no (${status})` })
    expect(stub.timesOf(FIRST[waitBy])).toHaveLength(1)
  })

  it('does not ask again where the server says that it does not help, and hears why', async () => {
    const body = { error: 'no', code: 'unavailable', retryable: false, applied: 'no' }
    await using stub = await StubServer.listen(({ response }) => {
      sendJson(response, 503, { ...body, cause: 'LOCK_STORAGE_FAILED' })
    })
    await using client = create(stub.url)
    const { error } = await client.lock(PULL)
    expect(error).toMatchObject({ code: 'LOCK_STORAGE_FAILED', retryable: false, applied: 'no' })
    expect(stub.timesOf(FIRST[waitBy])).toHaveLength(1)
  })

  it('does not take what is no answer of a lock server for one', async () => {
    await using stub = await StubServer.listen(({ response }) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>nothing here</h1>')
    })
    await using client = create(stub.url)
    const { error } = await client.lock(PULL)
    expect(error).toMatchObject({
      code: 'LOCK_ENGINE_UNAVAILABLE',
      message: 'the answer is not that of a lock server (404)',
    })
  })

  it('does not read an answer that has no end', async () => {
    await using stub = await StubServer.listen(({ response }) => {
      response.writeHead(401)
      const piece = 'x'.repeat(64 * 1024)
      const go = (): void => {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', go)
      go()
    })
    await using client = create(stub.url, { maxRetries: 0 })
    const { error } = await client.lock(PULL)
    expect(error?.message).toContain('the answer is too long')
  })

  it('does not wait for ever for an answer, nor for the rest of one', async () => {
    for (const begin of [false, true]) {
      await using stub = await StubServer.listen(({ response, method }) => {
        if (method === 'DELETE') sendJson(response, 200, {})
        else if (begin) response.writeHead(401).write('{')
      })
      await using client = create(stub.url, { requestTimeout: 50, maxRetries: 1 })
      const { error } = await client.lock(PULL)
      expect(error).toMatchObject({ code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'maybe' })
      expect(error?.message).toContain('no answer within 50 ms')
      expect(stub.timesOf(FIRST[waitBy])).toHaveLength(2)
    }
  })
})
