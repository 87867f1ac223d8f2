import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type ServerHost, startServerHost } from './server-host.ts'

const hosts: ServerHost[] = []

async function start(): Promise<ServerHost> {
  const host = await startServerHost()
  hosts.push(host)
  return host
}

afterEach(async () => {
  for (const host of hosts.splice(0)) await host.stop()
})

async function post(url: string, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) })
  return (await answer.json()) as Record<string, unknown>
}

it('a server in the host grants a lock, and its virtual clock ends the lease', async () => {
  const host = await start()
  const server = await host.open({ engine: 'memory:', virtualClock: true })
  const ask = { key: 'k', ttl_ms: 10_000 }
  expect(await post(server.url, '/v1/acquire', { ...ask, owner: 'a' })).toMatchObject({
    outcome: 'granted',
    token: 1,
  })
  await server.advance(9_999)
  expect(await post(server.url, '/v1/acquire', { ...ask, owner: 'b' })).toMatchObject({
    code: 'held',
  })
  await server.advance(1)
  expect(await post(server.url, '/v1/acquire', { ...ask, owner: 'b' })).toMatchObject({ token: 2 })
})

it('a killed host leaves a directory that the next one opens, on the same port', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-host-'))
  try {
    const first = await start()
    const before = await first.open({ engine: { file: directory } })
    await post(before.url, '/v1/acquire', { key: 'k', owner: 'a' })
    await first.kill()
    const second = await start()
    const after = await second.open({ engine: { file: directory }, port: before.port })
    expect(after.url).toBe(before.url)
    expect(await post(after.url, '/v1/acquire', { key: 'k', owner: 'b' })).toMatchObject({
      code: 'held',
      holders: [{ owner: 'a' }],
    })
    await second.stop()
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

it('a server that cannot be opened says why', async () => {
  const host = await start()
  await expect(host.open({ engine: 'memory:', shards: 0 })).rejects.toThrow('shards')
})
