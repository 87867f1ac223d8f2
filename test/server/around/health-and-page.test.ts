import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStoredEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { Random } from '../../../src/testing/random.ts'
import { SimulatedDisk } from '../../../src/testing/simulated-disk.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { sendRaw } from '../limits/raw-http.ts'
import { type Served, serve } from '../served.ts'

let served: Served

beforeEach(async () => {
  served = await serve()
})

afterEach(() => served.close())

it('a server that answers is alive', async () => {
  expect(await served.call('/healthz')).toMatchObject({ status: 200, body: { status: 'alive' } })
})

it('a server is ready while its engine answers', async () => {
  expect(await served.call('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
  await served.engine.close()
  const { status, body, headers } = await served.call('/readyz')
  expect([status, body['retryable'], headers.get('retry-after')]).toEqual([503, true, '1'])
  expect((await served.call('/healthz')).status).toBe(200)
})

it('a server is not ready while its disk is full, and says so among its metrics', async () => {
  const trouble = { isOn: false }
  const clock = new VirtualClock()
  const disk = new SimulatedDisk({
    random: new Random('full'),
    fault: ({ kind }) =>
      trouble.isOn && kind === 'write' ? { kind: 'error', code: 'ENOSPC' } : undefined,
  })
  const engine = await openStoredEngine(disk.mount(), { clock })
  const full = await serve({ engine })
  try {
    trouble.isOn = true
    expect(await full.post('/v1/acquire', { key: 'k', owner: 'a' })).toMatchObject({ status: 503 })
    expect(await full.call('/readyz')).toMatchObject({ status: 503 })
    expect((await full.call('/metrics')).body['text']).toContain('holdfast_disk_full 1')
    expect(await full.call('/v1/locks/k')).toMatchObject({ status: 200 })
    trouble.isOn = false
    await clock.advance(1_000)
    expect(await full.call('/readyz')).toMatchObject({ status: 200 })
    expect((await full.call('/metrics')).body['text']).toContain('holdfast_disk_full 0')
  } finally {
    await full.close()
  }
})

it.each(['/healthz', '/readyz', '/v1/locks/k', '/nothing'])(
  'the head of %s is what its answer begins with',
  async (path) => {
    const { port } = served.server.address
    const end = 'HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'
    const [head = '', body] = (await sendRaw(port, `HEAD ${path} ${end}`)).split('\r\n\r\n')
    const [whole = ''] = (await sendRaw(port, `GET ${path} ${end}`)).split('\r\n\r\n')
    expect(body).toBe('')
    expect(withoutDate(head)).toBe(withoutDate(whole))
    expect(head).toMatch(/content-length: \d\d/)
  },
)

function withoutDate(head: string): string {
  return head.replace(/\r\ndate: [^\r]+/i, '')
}

it('a session that is not asked for as a WebSocket is told what is missing', async () => {
  const { status, headers } = await served.call('/v1/session')
  expect([status, headers.get('upgrade')]).toEqual([426, 'websocket'])
})

it('the description is served', async () => {
  expect((await served.call('/openapi.json')).body).toMatchObject({ openapi: '3.1.0' })
})

describe('the page', () => {
  it('shows who holds what and who waits', async () => {
    await served.post('/v1/acquire', { key: 'orders/42', owner: 'billing-3' })
    const asked = { key: 'orders/42', owner: 'billing-4', wait_ms: 60_000, detach: true }
    await served.post('/v1/acquire', asked)
    await served.post('/lock', { type: 'pull', resource_id: 'layer', node_id: 'n1' })
    const { text } = (await served.call('/')).body
    expect(text).toContain('orders/42')
    expect(text).toContain('billing-3 (write, token 1')
    expect(text).toContain('1, next billing-4')
    expect(text).toContain('operation on layer')
  })

  it('names that are markup are shown and not obeyed', async () => {
    const nasty = `"><script>alert(1)</script>&'`
    await served.post('/v1/acquire', { key: nasty, owner: nasty })
    const { body, headers } = await served.call('/')
    expect(body['text']).not.toContain('<script>')
    expect(body['text']).toContain('&lt;script&gt;')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  it('says so when there is nothing', async () => {
    expect((await served.call('/')).body['text']).toContain('Nothing is held')
  })

  it('every link leads somewhere', async () => {
    const { text } = (await served.call('/')).body
    const links = [...String(text).matchAll(/href="([^"]+)"/g)].map(([, link]) => link ?? '')
    for (const link of links) expect([link, (await served.call(link)).status]).toEqual([link, 200])
    expect(links.length).toBeGreaterThan(4)
  })
})
