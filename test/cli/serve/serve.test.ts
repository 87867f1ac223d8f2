import { connect } from 'node:net'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { sha256 } from '../../server/served.ts'
import { makeCertificate } from '../../server/tls/make-certificate.ts'
import { post, ServeRig } from './served-process.ts'

const rig = new ServeRig()

afterEach(() => rig.close())

describe('holdfast serve', () => {
  it('prints one line with its address when it is ready', async () => {
    const { started, url } = await rig.serve([])
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect(started.stdout).toBe(`listening on ${url}\n`)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  })

  it('says what to try where a person starts it, and that works', async () => {
    const { started, url } = await rig.serve(['--engine', 'memory:'], {
      npm_lifecycle_event: 'start',
    })
    await expect.poll(() => started.stdout.split('\n').length).toBe(3)
    const [, line = ''] = started.stdout.split('\n')
    const [, path = '', body = ''] = /curl -s (\S+) -d '(.*)'$/.exec(line) ?? []
    expect(path).toContain(url)
    const response = await fetch(path, { method: 'POST', body })
    expect(await response.json()).toMatchObject({ outcome: 'granted' })
  })

  it('asks for a token in what it says to try where it asks for one itself', async () => {
    const tokens = join(rig.makeDirectory(), 'tokens.toml')
    writeFileSync(
      tokens,
      `[[tokens]]\nname = "me"\nrole = "client"\nsha256 = "${sha256('mine')}"\n`,
    )
    const args = ['--engine', 'memory:', '--tokens', tokens]
    const { started, url } = await rig.serve(args, { npm_lifecycle_event: 'start' })
    await expect.poll(() => started.stdout.split('\n').length).toBe(3)
    expect(started.stdout).toContain(
      `try: curl -s -H "Authorization: Bearer $TOKEN" ${url}/v1/acquire -d `,
    )
  })

  it('keeps history', async () => {
    const { url } = await rig.serve(['--engine', 'memory:'])
    await post(url, '/v1/acquire', { key: 'k', owner: 'o' })
    await post(url, '/v1/release', { key: 'k', owner: 'o' })
    expect(await (await fetch(`${url}/v1/history?key=k`)).json()).toMatchObject({
      history: [{ owner: 'o' }],
    })
  })

  it('shows metrics of its process beside its own', async () => {
    const { url } = await rig.serve(['--engine', 'memory:'])
    const text = await (await fetch(`${url}/metrics`)).text()
    const read = (name: string): number =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    expect(read('holdfast_holds')).toBe(0)
    expect(read('process_resident_memory_bytes')).toBeGreaterThan(1e6)
    expect(read('process_cpu_seconds_total')).toBeGreaterThan(0)
    expect(read('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0)
    expect(read('nodejs_heap_size_used_bytes')).toBeGreaterThan(1e6)
  })

  it('takes settings from the environment and a file', async () => {
    const config = join(rig.makeDirectory(), 'serve.json')
    writeFileSync(config, JSON.stringify({ engine: 'memory:', limit: { key: 4 } }))
    const { url } = await rig.serve([], { HOLDFAST_CONFIG: config, HOLDFAST_LIMIT: 'owner=4' })
    for (const asked of [
      { key: 'kkkkk', owner: 'o' },
      { key: 'k', owner: 'ooooo' },
    ]) {
      expect((await post(url, '/v1/acquire', asked)).status).toBe(400)
    }
  })
})

it('a limit on leases holds for those who ask for none, and does not turn them away', async () => {
  const { url } = await rig.serve(['--engine', 'memory:', '--limit', 'ttl=2s'])
  const asked = { type: 'pull', resource_id: 'r', node_id: 'n' }
  expect((await post(url, '/lock', asked)).status).toBe(200)
  expect((await post(url, '/v1/acquire', { key: 'k', owner: 'o' })).status).toBe(200)
  for (const path of ['/v1/locks/r?kind=operation', '/v1/locks/k']) {
    const found = (await (await fetch(url + path)).json()) as {
      readonly holders: readonly { readonly lease_ms: number }[]
    }
    expect(found.holders[0]?.lease_ms).toBeLessThanOrEqual(2_000)
  }
})

describe('a stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s tells those who wait to come back, keeps holds, and is over in 5 s',
    async (signal) => {
      const data = rig.makeDirectory()
      const { started, url } = await rig.serve(['--data', data])
      await post(url, '/v1/acquire', { key: 'k', owner: 'a', ttl_ms: 600_000 })
      const waiting = post(url, '/v1/acquire', { key: 'k', owner: 'b', wait_ms: 60_000 })
      const stream = await fetch(`${url}/v1/events`)
      await expect
        .poll(async () => (await (await fetch(`${url}/v1/stats`)).json()) as object)
        .toMatchObject({ waiters: 1 })
      const sinceMs = performance.now()
      started.kill(signal)
      const answer = await waiting
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(await answer.json()).toMatchObject({ retryable: true, applied: 'no' })
      await stream.text()
      expect(await started.code).toBe(0)
      expect(performance.now() - sinceMs).toBeLessThan(5_000)

      const again = await rig.serve(['--data', data])
      const held = await (await fetch(`${again.url}/v1/locks/k`)).json()
      expect(held).toMatchObject({ holders: [{ owner: 'a', token: 1 }], queue: [] })
    },
  )

  it('is over in 5 s although a client sends half a request and then nothing', async () => {
    const { started, url } = await rig.serve(['--engine', 'memory:'])
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write('POST /v1/acquire HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{')
    await fetch(`${url}/healthz`)
    started.kill('SIGTERM')
    expect(await started.code).toBe(0)
    socket.destroy()
  })

  it('a second signal does not wait for it', async () => {
    const { started, url } = await rig.serve(['--engine', 'memory:'])
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write('POST /v1/acquire HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{')
    await fetch(`${url}/healthz`)
    started.kill('SIGTERM')
    await expect.poll(() => started.stderr).toContain('stopping')
    started.kill('SIGINT')
    expect(await started.code).toBe(130)
    socket.destroy()
  })
})

describe('files that change', () => {
  const entry = (token: string): string =>
    `[[tokens]]\nname = "alice"\nrole = "client"\nsha256 = "${sha256(token)}"\n`
  const ask = async (url: string, token: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${url}/v1/locks`, { headers })).status
  }

  it('tokens are read again, and a file that is wrong changes nothing', async () => {
    const tokens = join(rig.makeDirectory(), 'tokens.toml')
    writeFileSync(tokens, entry('one'))
    const { started, url } = await rig.serve(['--engine', 'memory:', '--tokens', tokens])
    expect([await ask(url, 'one'), await ask(url, 'two')]).toEqual([200, 401])
    writeFileSync(tokens, entry('two'))
    await expect.poll(() => ask(url, 'two')).toBe(200)
    expect(await ask(url, 'one')).toBe(401)
    writeFileSync(tokens, 'nonsense')
    await expect.poll(() => started.stderr).toContain('cannot be replaced')
    expect(await ask(url, 'two')).toBe(200)
    expect(started.stderr).not.toContain(sha256('two'))
  })

  it('certificates are read again', async () => {
    const directory = rig.makeDirectory()
    const files = [join(directory, 'cert.pem'), join(directory, 'key.pem')] as const
    const write = (name: string): void => {
      const made = makeCertificate({ name })
      writeFileSync(files[0], made.cert)
      writeFileSync(files[1], made.key)
    }
    write('first')
    const args = ['--engine', 'memory:', '--tls-cert', files[0], '--tls-key', files[1]]
    const { url } = await rig.serve(args)
    expect(await shownBy(url)).toBe('first')
    write('second')
    await expect.poll(() => shownBy(url)).toBe('second')
  })
})

/** The name in the certificate that a new connection is shown. */
function shownBy(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/healthz`, { rejectUnauthorized: false, agent: false }, (got) => {
      resolve(String((got.socket as TLSSocket).getPeerCertificate().subject.CN))
      got.destroy()
    })
    sent.on('error', reject)
    sent.end()
  })
}

describe('what it refuses, with a message and an exit code', () => {
  it.each<[string, readonly string[], RegExp]>([
    [
      'an unknown engine',
      ['--engine', 'redis://:secret@host'],
      /--engine: there is no engine for redis:/,
    ],
    [
      'an open door',
      ['--host', '0.0.0.0', '--engine', 'memory:'],
      /--host: 0\.0\.0\.0.*--tokens or --tls-ca.*--insecure\nTry: holdfast serve --help/,
    ],
    [
      'lanes that are too many',
      ['--engine', 'memory:', '--lanes', 'a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q'],
      /--lanes: .*at most 16/,
    ],
    ['no such tokens', ['--tokens', 'none.toml', '--engine', 'memory:'], /--tokens: .*none\.toml/],
    [
      'no such address',
      ['--host', '192.0.2.1', '--insecure', '--engine', 'memory:'],
      /192\.0\.2\.1/,
    ],
    ['an unknown option', ['--prot', '1'], /did you mean --port/],
  ])('%s', async (_, args, message) => {
    const started = rig.start(args)
    expect(await started.code).toBe(64)
    expect(started.stderr).toMatch(message)
    expect(started.stderr).not.toContain('secret')
    expect(started.stdout).toBe('')
  })

  it('an open door that came from the environment', async () => {
    const started = rig.start(['--engine', 'memory:'], { HOLDFAST_HOST: '::' })
    expect(await started.code).toBe(64)
    expect(started.stderr).toContain('HOLDFAST_HOST: ::')
  })

  it('a directory that cannot be one', async () => {
    const started = rig.start([], { HOLDFAST_DATA: '/dev/null/data' })
    expect(await started.code).toBe(69)
    expect(started.stderr).toMatch(/HOLDFAST_DATA: .*\/dev\/null\/data/)
  })

  it('a port and a directory that another server has', async () => {
    const data = rig.makeDirectory()
    const { url } = await rig.serve(['--data', data])
    const port = new URL(url).port
    const sameDirectory = rig.start(['--port', '0', '--data', data])
    const samePort = rig.start(['--port', port, '--engine', 'memory:'])
    expect(await sameDirectory.code).toBe(69)
    expect(sameDirectory.stderr).toMatch(/--data: .*(?:owned|owns)/)
    expect(await samePort.code).toBe(69)
    expect(samePort.stderr).toContain('another program listens there already')
  })
})
