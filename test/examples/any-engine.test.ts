import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { MYSQL, POSTGRES, SQLITE, type TestServer } from '../engines/sql/test-servers.ts'
import { runTypeScript } from './run-example.ts'

const TIMEOUT_MS = 240_000
const directory = mkdtempSync(join(tmpdir(), 'holdfast-any-engine-'))
const servers: TestServer[] = []

afterAll(async () => {
  for (const server of servers) await server.stop()
  await rm(directory, { recursive: true })
})

async function createOn(kind: typeof SQLITE): Promise<string> {
  const server = await kind.start()
  servers.push(server)
  return server.create()
}

/** Everywhere the same, apart from times and ids, of which it prints none. */
const TRANSCRIPT = [
  'ann holds orders/42 under token 1',
  'bob tries: it is held',
  'bob waits a little: LOCK_WAIT_TIMEOUT',
  'held by ann, then bob,cem,dee',
  'bob has its turn under token 2',
  'cem has its turn under token 3',
  'dee has its turn under token 4',
  'ann and bob read; somebody writes: not now',
  'ann wants to write; bob too: LOCK_UPGRADE_CONFLICT',
  'ann writes under a new token: true',
  'ann reads again, and so does bob: true',
  'all of them at once, in one order: a,b,c',
  'node-1 pulls',
  'node-2 skips: {"sizeBytes":4096}',
  'node-3 skips: {"sizeBytes":4096}',
  'used by node-1,node-2,node-3',
  'a delete: LOCK_IN_USE',
  'a delete when nobody uses it: acquired',
  'a pull after the delete: acquired',
  'the report was built 1 time; everybody has [{"rows":3},{"rows":3},{"rows":3}]',
  'jobs/hourly: fine',
  'jobs/nightly: stuck',
  'taken away from stuck: 1',
  'its handle has noticed, and its release did no harm',
  'jobs/nightly was held by stuck under token 1: forced',
  'orders/42 was held by, latest first: dee,cem,bob,ann',
]

describe('one program prints the same', { timeout: TIMEOUT_MS }, () => {
  it.each<[string, () => Promise<string>]>([
    ['file:', async () => `file:${join(directory, 'locks')}`],
    ['sqlite:', async () => `sqlite:${await createOn(SQLITE)}`],
    ['postgres:', () => createOn(POSTGRES)],
    ['mysql:', () => createOn(MYSQL)],
  ])('on %s', async (_, createUrl) => {
    expect(await runTypeScript('any-engine/any-engine.ts', await createUrl())).toEqual(TRANSCRIPT)
  })
})
