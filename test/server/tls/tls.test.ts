import { Agent, type AgentOptions, request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { Log } from '../../../src/server/observe/log.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { type Served, serve, tokensFor } from '../served.ts'
import { makeCertificate } from './make-certificate.ts'

const authority = makeCertificate({ name: 'an authority' })
const ours = makeCertificate({ name: 'ours', issuer: authority })
const newer = makeCertificate({ name: 'newer', issuer: authority })
const client = makeCertificate({ name: 'client', issuer: authority })
const stranger = makeCertificate({ name: 'stranger', issuer: makeCertificate({ name: 'another' }) })

/** The server hangs up, which a client notices in one of two ways. */
const REFUSED = /alert|socket hang up|ECONNRESET|EPIPE/

let served: Served
const agents: Agent[] = []

afterEach(async () => {
  for (const agent of agents.splice(0)) agent.destroy()
  await served.close()
})

function agentWith(options: AgentOptions = {}): Agent {
  const agent = new Agent({ ca: authority.cert, keepAlive: true, ...options })
  agents.push(agent)
  return agent
}

interface Got {
  readonly status: number
  /** Whose certificate the server showed. */
  readonly server: string
  readonly socket: TLSSocket
}

function get(agent: Agent, headers: Readonly<Record<string, string>> = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(`${served.server.url}/v1/locks`, { agent, headers }, (got) => {
      const socket = got.socket as TLSSocket
      const server = String(socket.getPeerCertificate().subject?.CN)
      got.resume().on('end', () => resolve({ status: got.statusCode ?? 0, server, socket }))
    })
    sent.on('error', reject)
    sent.end()
  })
}

describe('a server with a certificate', () => {
  it('speaks TLS and nothing else', async () => {
    served = await serve({ tls: ours })
    expect(served.server.url).toMatch(/^https:/)
    expect(await get(agentWith())).toMatchObject({ status: 200, server: 'ours' })
    await expect(fetch(served.server.url.replace('https', 'http'))).rejects.toThrow(/fetch failed/)
  })

  it('speaks no version before 1.2', async () => {
    served = await serve({ tls: ours })
    const old = agentWith({ maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })
    await expect(get(old)).rejects.toThrow(/protocol|version/i)
  })

  it.each([
    'AES128-SHA',
    'AES256-GCM-SHA384',
    'ECDHE-ECDSA-AES128-SHA',
    'ECDHE-ECDSA-AES256-SHA384',
  ])(
    'speaks no suite without forward secrecy and authenticated encryption: %s',
    async (ciphers) => {
      served = await serve({ tls: ours })
      const old = agentWith({ ciphers: `${ciphers}:@SECLEVEL=0`, maxVersion: 'TLSv1.2' })
      await expect(get(old)).rejects.toThrow(/handshake failure|alert/i)
    },
  )

  it.each([
    ['TLSv1.2', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
    ['TLSv1.2', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
    ['TLSv1.3', 'TLS_AES_128_GCM_SHA256'],
  ] as const)('speaks %s with %s', async (version, ciphers) => {
    served = await serve({ tls: ours })
    const agent = agentWith({ ciphers, minVersion: version, maxVersion: version })
    const { status, socket } = await get(agent)
    expect([status, socket.getCipher().standardName]).toEqual([
      200,
      expect.stringMatching(/GCM|POLY/),
    ])
  })

  it('shows a new one to new connections, and keeps the old connections', async () => {
    served = await serve({ tls: ours })
    const kept = agentWith()
    const before = await get(kept)
    served.server.replaceTls(newer)
    expect(await get(agentWith())).toMatchObject({ server: 'newer' })
    const after = await get(kept)
    expect(after.socket).toBe(before.socket)
    expect(after.server).toBe('ours')
  })

  it('keeps the one that it has when the new one does not fit its key', async () => {
    served = await serve({ tls: ours })
    expect(() => served.server.replaceTls({ cert: newer.cert, key: ours.key })).toThrow(
      /key values mismatch/,
    )
    expect(await get(agentWith())).toMatchObject({ server: 'ours' })
  })
})

describe('a server with an authority for clients', () => {
  it('lets in whom that has signed, and nobody else', async () => {
    served = await serve({ tls: { ...ours, ca: authority.cert } })
    const { cert, key } = client
    expect(await get(agentWith({ cert, key }))).toMatchObject({ status: 200 })
    await expect(get(agentWith())).rejects.toThrow(REFUSED)
    await expect(get(agentWith({ cert: stranger.cert, key: stranger.key }))).rejects.toThrow(
      REFUSED,
    )
  })

  it('says once in its log whom it does not let in, and why', async () => {
    const lines: string[] = []
    const write = (line: string): void => void lines.push(line)
    const log = new Log({ level: 'info', form: 'json', write, wallMs: () => 0 })
    // Its clock stands still, so nothing is told twice.
    const socketClock = new VirtualClock()
    served = await serve({ tls: { ...ours, ca: authority.cert }, log, socketClock })
    const { cert, key } = stranger
    for (let turn = 0; turn < 3; turn += 1) {
      await expect(get(agentWith({ cert, key }))).rejects.toThrow(REFUSED)
    }
    await expect(get(agentWith())).rejects.toThrow(REFUSED)
    await expect.poll(() => lines).toHaveLength(2)
    const told = { time: expect.any(String), level: 'warn' }
    const message = 'a client was not let in for its certificate'
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { ...told, message, reason: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
      { ...told, message, reason: 'it has none' },
    ])
  })

  it('may listen beyond this machine, and still asks for tokens where there are some', async () => {
    const tls = { ...ours, ca: authority.cert }
    served = await serve({ tls, host: '0.0.0.0', tokens: tokensFor({ name: 'alice' }) })
    const { port } = served.server.address
    Object.defineProperty(served.server, 'url', { value: `https://127.0.0.1:${port}` })
    const agent = agentWith({ cert: client.cert, key: client.key })
    expect((await get(agent)).status).toBe(401)
    expect((await get(agent, { authorization: 'Bearer alice-token' })).status).toBe(200)
  })
})
