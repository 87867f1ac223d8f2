import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../../src/cli/run-cli.ts'
import { type Served, serve } from '../server/served.ts'
import { makeCertificate } from '../server/tls/make-certificate.ts'
import { CapturedIo } from './captured-io.ts'

const authority = makeCertificate({ name: 'an authority' })
const client = makeCertificate({ name: 'client', issuer: authority })

let directory: string
let served: Served
let files: { readonly ca: string; readonly cert: string; readonly key: string }

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-cli-tls-'))
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text)
    return join(directory, name)
  }
  files = {
    ca: await write('ca.pem', authority.cert),
    cert: await write('cert.pem', client.cert),
    key: await write('key.pem', client.key),
  }
  const ours = makeCertificate({ name: 'ours', issuer: authority })
  served = await serve({ tls: { ...ours, ca: authority.cert } })
})

afterAll(async () => {
  await served.close()
  await rm(directory, { recursive: true, force: true })
})

async function list(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly said: string }> {
  const io = new CapturedIo({ env: { HOLDFAST_SERVER: served.server.url, ...env } })
  const code = await runCli(['ls', ...args], io)
  return { code, said: io.stderr.text }
}

it('options name the authority and the certificate of a client', async () => {
  const { ca, cert, key } = files
  const answer = await list(['--ca', ca, '--client-cert', cert, '--client-key', key])
  expect(answer.code, answer.said).toBe(0)
})

it('so does the environment', async () => {
  const { ca, cert, key } = files
  const env = { HOLDFAST_CA: ca, HOLDFAST_CLIENT_CERT: cert, HOLDFAST_CLIENT_KEY: key }
  const answer = await list([], env)
  expect(answer.code, answer.said).toBe(0)
})

it('a server that is not trusted ends with 69 and names the option', async () => {
  const { code, said } = await list([])
  expect({ code, said }).toEqual({ code: 69, said: expect.stringContaining('--ca FILE') })
})

it('a client without a certificate ends with 77 and names the options', async () => {
  const { code, said } = await list(['--ca', files.ca])
  expect({ code, said }).toEqual({ code: 77, said: expect.stringContaining('--client-cert') })
})

it('a certificate of another authority ends with 69, and with what may be wrong', async () => {
  const another = makeCertificate({ name: 'another authority' })
  const stranger = makeCertificate({ name: 'stranger', issuer: another })
  const [cert, key] = [join(directory, 'stranger.pem'), join(directory, 'stranger-key.pem')]
  await writeFile(cert, stranger.cert)
  await writeFile(key, stranger.key)
  const options = ['--ca', files.ca, '--client-cert', cert, '--client-key', key]
  const { code, said } = await list(options)
  expect({ code, said }).toEqual({
    code: 69,
    said: expect.stringMatching(/its authority may not have signed this one .*--client-cert/),
  })
}, 60_000)

it('a file that is missing or no certificate is a wrong command line', async () => {
  const missing = await list([], { HOLDFAST_CA: join(directory, 'missing.pem') })
  expect(missing).toEqual({
    code: 64,
    said: expect.stringContaining('HOLDFAST_CA cannot be read: ENOENT'),
  })
  const wrong = await list(['--ca', files.key])
  expect(wrong).toEqual({ code: 64, said: expect.stringContaining('ca has to be PEM text') })
})
