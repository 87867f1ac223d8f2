import { Counter, Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Counts } from '../../../src/server/observe/counts.ts'
import { WaitHistogram } from '../../../src/server/observe/wait-histogram.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { type Served, serve } from '../served.ts'
import { openTestEngine } from '../test-engine.ts'

let served: Served

beforeEach(async () => {
  served = await serve()
})

afterEach(() => served.close())

async function read(): Promise<Map<string, number>> {
  const { text } = (await served.call('/metrics')).body
  const lines = String(text)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ')
      return [line.slice(0, space), Number(line.slice(space + 1))]
    }),
  )
}

describe('what happens is counted', () => {
  it('grants, waits, releases', async () => {
    await served.post('/v1/acquire', { key: 'k', owner: 'a' })
    const waiting = served.post('/v1/acquire', { key: 'k', owner: 'b', wait_ms: 5_000 })
    await expect.poll(async () => (await read()).get('holdfast_waiters')).toBe(1)
    const before = await read()
    expect(before.get('holdfast_holds')).toBe(1)
    expect(before.get('holdfast_held_requests')).toBe(1)
    expect(before.get('holdfast_queued_total{kind="lock"}')).toBe(1)
    await served.post('/v1/release', { key: 'k', owner: 'a' })
    await waiting
    const after = await read()
    expect(after.get('holdfast_grants_total{kind="lock"}')).toBe(2)
    expect(after.get('holdfast_releases_total{kind="lock"}')).toBe(1)
    expect(after.get('holdfast_wait_seconds_count')).toBe(2)
    expect(after.get('holdfast_wait_seconds_bucket{le="+Inf"}')).toBe(2)
    expect(after.get('holdfast_wait_seconds_sum')).toBeGreaterThan(0)
    expect(after.get('holdfast_waiters')).toBe(0)
  })

  it('refusals by reason, expiries, disconnects, forced releases', async () => {
    await served.close()
    const clock = new VirtualClock()
    served = await serve({ clock, engine: await openTestEngine({ clock }) })
    await served.post('/v1/acquire', { key: 'k', owner: 'a', ttl_ms: 1_000 })
    await served.post('/v1/acquire', { key: 'k', owner: 'b' })
    await clock.advance(1_000)
    await served.call('/v1/sessions/s', { method: 'PUT', body: { grace_ms: 60_000 } })
    await served.post('/v1/acquire', { key: 's', owner: 'a', session: 's' })
    await served.call('/v1/sessions/s', { method: 'DELETE' })
    await served.post('/v1/acquire', { key: 'f', owner: 'a' })
    await served.call('/v1/locks/f', { method: 'DELETE' })
    await served.post('/lock', { type: 'pull', resource_id: 'r', node_id: 'n' })
    await served.post('/unlock', { type: 'pull', resource_id: 'r', node_id: 'n' })
    const metrics = await read()
    expect(metrics.get('holdfast_refusals_total{kind="lock",reason="held"}')).toBe(1)
    expect(metrics.get('holdfast_expiries_total{kind="lock"}')).toBe(1)
    expect(metrics.get('holdfast_disconnects_total{kind="lock"}')).toBe(1)
    expect(metrics.get('holdfast_forced_releases_total{kind="lock"}')).toBe(1)
    expect(metrics.get('holdfast_completions_total{kind="operation"}')).toBe(1)
    expect(metrics.get('holdfast_references')).toBe(1)
  })

  it('requests by route and status, and paths that clients invent are one', async () => {
    await served.post('/v1/acquire', { key: 'k', owner: 'a' })
    await served.post('/v1/acquire', { key: 'k' })
    await served.call('/v1/locks/k')
    await served.call('/nothing/1')
    await served.call('/nothing/2')
    const metrics = await read()
    const count = (route: string, status: number): number | undefined =>
      metrics.get(`holdfast_http_requests_total{route="${route}",status="${status}"}`)
    expect(count('POST /v1/acquire', 200)).toBe(1)
    expect(count('POST /v1/acquire', 400)).toBe(1)
    expect(count('GET /v1/locks/{key}', 200)).toBe(1)
    expect(count('none', 404)).toBe(2)
  })

  it('streams and connections', async () => {
    const over = new AbortController()
    await fetch(`${served.server.url}/v1/events`, { signal: over.signal })
    const metrics = await read()
    expect(metrics.get('holdfast_streams')).toBe(1)
    expect(metrics.get('holdfast_http_connections')).toBeGreaterThan(0)
    over.abort()
    await expect.poll(async () => (await read()).get('holdfast_streams')).toBe(0)
  })
})

it('a client that hangs up is not a failure of the server', async () => {
  await served.post('/v1/acquire', { key: 'k', owner: 'a' })
  const over = new AbortController()
  const body = { key: 'k', owner: 'b', wait_ms: 60_000 }
  const waiting = served.call('/v1/acquire', { body, signal: over.signal }).catch(() => undefined)
  await expect.poll(async () => (await read()).get('holdfast_waiters')).toBe(1)
  over.abort()
  await waiting
  await expect.poll(async () => (await read()).get('holdfast_waiters')).toBe(0)
  const gone = 'holdfast_http_requests_total{route="POST /v1/acquire",status="gone"}'
  await expect.poll(async () => (await read()).get(gone)).toBe(1)
  expect((await read()).get('holdfast_failures_total')).toBe(0)
})

it('the text follows the Prometheus format', async () => {
  const { body, headers } = await served.call('/metrics')
  expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const text = String(body['text'])
  expect(text.endsWith('\n')).toBe(true)
  const names = new Set<string>()
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, type, name = ''] = /^# (HELP|TYPE) (\S+) .+$/.exec(line) ?? []
    if (type === 'TYPE') {
      expect(names).not.toContain(name)
      names.add(name)
      expect(name).toMatch(/^holdfast_[a-z_]+$/)
      expect(line.endsWith('counter')).toBe(name.endsWith('_total'))
    } else if (type === undefined) {
      expect(line).toMatch(/^[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? [0-9.e+-]+$/)
    }
  }
})

describe('a registry of the caller', () => {
  it('is shown with what it has of its own', async () => {
    await served.close()
    const registry = new Registry()
    new Counter({ name: 'app_jobs_total', help: 'Jobs.', registers: [registry] }).inc(3)
    served = await serve({ registry })
    await served.post('/v1/acquire', { key: 'k', owner: 'a' })
    const metrics = await read()
    expect(metrics.get('app_jobs_total')).toBe(3)
    expect(metrics.get('holdfast_grants_total{kind="lock"}')).toBe(1)
  })

  it('can be merged with others', async () => {
    await served.close()
    const [ours, theirs] = [new Registry(), new Registry()]
    new Counter({ name: 'app_jobs_total', help: 'Jobs.', registers: [theirs] }).inc(3)
    served = await serve({ registry: ours })
    await served.post('/v1/acquire', { key: 'k', owner: 'a' })
    const text = await Registry.merge([ours, theirs]).metrics()
    expect(text).toContain('\napp_jobs_total 3\n')
    expect(text).toContain('\nholdfast_holds 1\n')
    expect(text).toContain('\nholdfast_wait_seconds_count 1\n')
  })
})

describe('plain counts', () => {
  it('are read as they stand, under labels that are escaped', async () => {
    const registry = new Registry()
    const counts = new Counts(registry, { name: 'a_total', help: 'A.', labelNames: ['l'] })
    const count = counts.of('x"\\\n')
    count.value += 1
    const text = '# HELP a_total A.\n# TYPE a_total counter\na_total{l="x\\"\\\\\\n"}'
    expect(await registry.metrics()).toBe(`${text} 1\n`)
    count.value += 1
    expect(await registry.metrics()).toBe(`${text} 2\n`)
  })

  it('of waits are cumulative by bucket', async () => {
    const registry = new Registry()
    const histogram = new WaitHistogram(registry)
    for (const seconds of [0, 0.001, 0.3, 5_000]) histogram.observe(seconds)
    const text = await registry.metrics()
    const buckets = [...text.matchAll(/^holdfast_wait_seconds_bucket\{le="(\S+)"\} (\d+)$/gm)]
    expect(Object.fromEntries(buckets.map(([, le, count]) => [le, Number(count)]))).toMatchObject({
      '0.001': 2,
      '0.1': 2,
      '0.5': 3,
      '3600': 3,
      '+Inf': 4,
    })
    expect(text).toContain('\nholdfast_wait_seconds_sum 5000.301\nholdfast_wait_seconds_count 4\n')
  })
})
