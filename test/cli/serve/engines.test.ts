import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openServeEngine } from '../../../src/cli/serve/open-serve-engine.ts'
import { readServeSettings } from '../../../src/cli/settings/read-serve-settings.ts'
import { SettingError } from '../../../src/cli/settings/setting-error.ts'
import { MYSQL, POSTGRES, SQLITE, type TestServer } from '../../engines/sql/test-servers.ts'
import { findFreePort } from '../../services/free-port.ts'
import { post, ServeRig } from './served-process.ts'

const TIMEOUT_MS = 120_000
const rig = new ServeRig()

afterEach(() => rig.close())

describe.each([
  { kind: SQLITE, toUrl: (file: string) => `sqlite:${file}`, warning: '' },
  { kind: POSTGRES, toUrl: withPassword, warning: 'fsync is off' },
  { kind: MYSQL, toUrl: (url: string) => url, warning: 'innodb_flush_log_at_trx_commit is not 1' },
])(
  'holdfast serve --engine, on $kind.name',
  { timeout: TIMEOUT_MS },
  ({ kind, toUrl, warning }) => {
    let server: TestServer

    beforeAll(async () => {
      server = await kind.start()
    }, TIMEOUT_MS)
    afterAll(() => server.stop())

    it('keeps holds when it stops, says where they are, and hides the password', async () => {
      const engine = toUrl(await server.create())
      const { started, url } = await rig.serve(['--engine', engine])
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
      await post(url, '/v1/acquire', { key: 'k', owner: 'a', ttl_ms: 600_000 })
      started.kill('SIGTERM')
      expect(await started.code).toBe(0)
      expect(started.stderr).toContain('locks are kept')
      expect(started.stderr).toContain(engine.replace(':hunter2@', '@').replace(/\?.*$/, ''))
      expect(started.stderr).not.toContain('hunter2')
      // Servers of tests need not wait for their disk.
      expect(started.stderr).toContain(warning)

      const again = await rig.serve([], { HOLDFAST_ENGINE: engine })
      const held = await (await fetch(`${again.url}/v1/locks/k`)).json()
      expect(held).toMatchObject({ holders: [{ owner: 'a', token: 1 }], queue: [] })
    })
  },
)

/** Ours asks for none, so any will do. */
function withPassword(address: string): string {
  const url = new URL(address)
  url.password = 'hunter2'
  url.searchParams.set('application_name', 'hunter2')
  return url.href
}

describe('an engine that cannot be opened', { timeout: TIMEOUT_MS }, () => {
  it.each([
    ['http://user:hunter2@host', /--engine: there is no engine for http:/],
    ['postgres:user:hunter2@host', /--engine: a database is named as in postgres:/],
    ['sqlite:', /--engine: sqlite: needs a path/],
  ])('%s is a setting that is wrong', async (engine, message) => {
    const args = ['--engine', engine]
    const opening = openServeEngine(readServeSettings({ args, env: {}, readFile: () => '' }))
    const error = await opening.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(SettingError)
    expect(String(error)).toMatch(message)
    expect(String(error)).not.toContain('hunter2')
  })

  it('because no server listens there has an exit code of its own', async () => {
    const engine = `postgres://user:hunter2@127.0.0.1:${await findFreePort()}/database`
    const started = rig.start([], { HOLDFAST_ENGINE: engine })
    expect(await started.code).toBe(69)
    expect(started.stderr).toMatch(/the database is not available/)
    expect(started.stderr).not.toContain('hunter2')
  })
})
