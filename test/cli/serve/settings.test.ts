import { describe, expect, it } from 'vitest'
import {
  readServeSettings,
  type ServeSettings,
} from '../../../src/cli/settings/read-serve-settings.ts'
import { LIMIT_TABLE } from '../../../src/cli/settings/limit-table.ts'
import { SETTINGS } from '../../../src/cli/settings/setting-table.ts'
import { toVariable } from '../../../src/cli/settings/read-environment.ts'
import { DEFAULT_SETTINGS } from '../../../src/engine/validation/default-settings.ts'
import { DEFAULT_LIMITS } from '../../../src/server/server-limits.ts'

interface Given {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly file?: string
}

/** What was set, wherever it came from. */
function read(given: Given): Omit<ServeSettings, 'sources'> {
  const { sources: _, ...settings } = readAll(given)
  return settings
}

function readAll({ args = [], env = {}, file }: Given): ServeSettings {
  return readServeSettings({
    args: file === undefined ? args : ['--config', 'serve.toml', ...args],
    env,
    readFile: () => file ?? '',
  })
}

describe('without any settings', () => {
  it('everything is as documented', () => {
    expect(read({})).toEqual({
      warnings: [],
      host: '127.0.0.1',
      port: 8086,
      engine: undefined,
      data: './holdfast-data',
      shards: 32,
      law: {
        coordination: 'server',
        multiNode: true,
        updateRequiresNoRef: false,
        retentionMs: 300_000,
        operationTtlMs: 3_600_000,
        lockTtlMs: 30_000,
        waiterPatienceMs: 90_000,
        claimWindowMs: 10_000,
        lanes: [],
      },
      sessionGraceMs: 5_000,
      tokens: undefined,
      tls: undefined,
      insecure: false,
      limits: {},
      log: 'info',
    })
  })

  it('the law and the limits are what they are without a server', () => {
    expect({ ...DEFAULT_SETTINGS, ...read({}).law }).toEqual(DEFAULT_SETTINGS)
    const args = Object.entries(LIMIT_TABLE).map(
      ([name, rule]) => `--limit=${name}=${rule.default}`,
    )
    expect(read({ args }).limits).toEqual(DEFAULT_LIMITS)
  })
})

/** A value other than the default for each setting, as text and in a file, and what becomes of it. */
const SAMPLES: Readonly<Record<string, readonly [text: string, inFile: string, Partial<object>]>> =
  {
    host: ['::1', '"::1"', { host: '::1' }],
    port: ['9000', '9000', { port: 9000 }],
    engine: ['memory:', '"memory:"', { engine: 'memory:' }],
    data: ['/d', '"/d"', { data: '/d' }],
    coordination: ['mutex', '"mutex"', { law: { coordination: 'mutex' } }],
    'multi-node': ['false', 'false', { law: { multiNode: false } }],
    'update-requires-no-ref': ['true', 'true', { law: { updateRequiresNoRef: true } }],
    retention: ['1h', '"1h"', { law: { retentionMs: 3_600_000 } }],
    'operation-ttl': ['300ms', '300', { law: { operationTtlMs: 300 } }],
    'session-grace': ['1.5s', '"1500ms"', { sessionGraceMs: 1500 }],
    'waiter-patience': ['2m', '"2m"', { law: { waiterPatienceMs: 120_000 } }],
    'claim-window': ['3s', '"3s"', { law: { claimWindowMs: 3000 } }],
    lanes: [
      'delete, update,pull',
      '["delete", "update", "pull"]',
      { law: { lanes: ['delete', 'update', 'pull'] } },
    ],
    shards: ['4', '4', { shards: 4 }],
    tokens: ['t.toml', '"t.toml"', { tokens: 't.toml' }],
    insecure: ['on', 'true', { insecure: true }],
    limit: [
      'body=1MiB,wait=2h,holds=7',
      '{ body = 1048576, wait = "2h", holds = 7 }',
      { limits: { body: 1_048_576, wait: 7_200_000, holds: 7 } },
    ],
    log: ['debug', '"debug"', { log: 'debug' }],
  }

const sampled = SETTINGS.filter(({ name }) => !name.startsWith('tls-'))

describe.each(sampled.map((setting) => [setting.name, setting] as const))('%s', (name, setting) => {
  const [text, inFile, expected] = SAMPLES[name] ?? ['', '', {}]

  it('is an option', () => {
    expect(read({ args: [`--${name}=${text}`] })).toMatchObject(expected)
    if (setting.kind.is !== 'flag') {
      expect(read({ args: [`--${name}`, text] })).toMatchObject(expected)
    }
  })

  it('is a variable of the environment', () => {
    expect(read({ env: { [toVariable(name)]: text } })).toMatchObject(expected)
  })

  it('is a key of the file, in TOML and in JSON', () => {
    expect(read({ file: `${name} = ${inFile}` })).toMatchObject(expected)
    const json = inFile.replaceAll(/(\w+) = /g, '"$1": ')
    expect(read({ file: `{"${name}": ${json}}` })).toMatchObject(expected)
  })

  it('on the command line counts before the environment, and that before the file', () => {
    const usual = read({})
    const other = setting.default ?? text
    if (setting.default === undefined) return
    const args =
      setting.kind.is === 'flag' && other === 'off' ? [`--no-${name}`] : [`--${name}=${other}`]
    expect(read({ args, env: { [toVariable(name)]: text } })).toEqual(usual)
    expect(read({ env: { [toVariable(name)]: other }, file: `${name} = ${inFile}` })).toEqual(usual)
  })
})

it('where each setting came from is known', () => {
  const { sources } = readAll({
    args: ['--port=1'],
    env: { HOLDFAST_DATA: 'd', PORT: '2' },
    file: 'host = "::1"\nport = 3',
  })
  expect(sources).toMatchObject({
    port: '--port',
    data: 'HOLDFAST_DATA',
    host: 'serve.toml: host',
    log: 'the default of --log',
  })
})

describe('names of older servers', () => {
  it('PORT and ALLOW_MULTI_NODE_DOWNLOAD work as they are', () => {
    const env = { PORT: '9000', ALLOW_MULTI_NODE_DOWNLOAD: 'false' }
    expect(read({ env })).toMatchObject({ port: 9000, law: { multiNode: false } })
  })

  it('our own names count before them', () => {
    expect(read({ env: { PORT: '9000', HOLDFAST_PORT: '9001' } }).port).toBe(9001)
  })
})

describe('TLS', () => {
  it('takes a certificate, a key and perhaps an authority', () => {
    const args = ['--tls-cert=c', '--tls-key=k']
    expect(read({ args }).tls).toEqual({ cert: 'c', key: 'k', ca: undefined })
    expect(read({ args: [...args, '--tls-ca=a'] }).tls).toMatchObject({ ca: 'a' })
  })

  it.each([
    ['--tls-cert', '--tls-cert: it needs tls-key as well'],
    ['--tls-key', '--tls-key: it needs tls-cert as well'],
    ['--tls-ca', '--tls-ca: it needs tls-cert as well'],
  ])('%s alone is refused', (flag, message) => {
    expect(() => read({ args: [`${flag}=f`] })).toThrow(message)
  })
})

describe('limits', () => {
  it('are replaced one by one', () => {
    const args = ['--limit', 'body=2KiB', '--limit', 'body=3KiB', '--limit', 'key=10']
    const env = { HOLDFAST_LIMIT: 'body=4KiB,owner=20' }
    expect(read({ args, env }).limits).toEqual({ body: 3072, key: 10, owner: 20 })
  })

  it('of leases and waiters reach the law', () => {
    const { law } = read({ args: ['--limit', 'ttl=10s', '--limit', 'waiters=5'] })
    expect(law).toMatchObject({ operationTtlMs: 10_000, lockTtlMs: 10_000, waitersPerKeyMax: 5 })
  })
})

describe('a bad setting is refused by its name and where it came from', () => {
  it.each<[string, Given, string]>([
    [
      'unknown option',
      { args: ['--prot', '1'] },
      'there is no option --prot; did you mean --port?',
    ],
    ['unknown option', { args: ['--frobnicate'] }, 'there is no option --frobnicate'],
    ['a word', { args: ['9000'] }, '"9000" is no option of serve'],
    ['no value', { args: ['--port'] }, '--port needs a value'],
    ['no value but another option', { args: ['--data', '--insecure'] }, '--data needs a value'],
    ['a value for --no-', { args: ['--no-multi-node=1'] }, '--no-multi-node takes no value'],
    ['--no- for what is no flag', { args: ['--no-port'] }, 'there is no option --no-port'],
    ['a port', { args: ['--port', '70000'] }, '--port: it cannot be "70000"'],
    ['a port', { env: { PORT: 'http' } }, 'PORT: it cannot be "http"'],
    ['a port', { env: { HOLDFAST_PORT: 'tcp' } }, 'HOLDFAST_PORT: it cannot be'],
    ['a port', { file: 'port = 1.5' }, 'serve.toml: port: it cannot be 1.5'],
    ['a duration', { args: ['--retention=5'] }, '--retention: it cannot be "5"'],
    ['a duration', { env: { HOLDFAST_SESSION_GRACE: '1ms' } }, 'HOLDFAST_SESSION_GRACE: it cannot'],
    ['a flag', { env: { ALLOW_MULTI_NODE_DOWNLOAD: 'maybe' } }, 'ALLOW_MULTI_NODE_DOWNLOAD: it'],
    [
      'a choice',
      { args: ['--coordination=chaos'] },
      '--coordination: it cannot be "chaos": use server',
    ],
    ['lanes', { args: ['--lanes=a,,b'] }, '--lanes: it cannot be'],
    ['lanes', { args: ['--lanes=a,a'] }, '--lanes: it cannot be'],
    ['an empty text', { args: ['--data='] }, '--data: it has to be a text'],
    [
      'a limit',
      { args: ['--limit=boddy=1'] },
      '--limit boddy: there is no such limit; did you mean body?',
    ],
    ['a limit', { args: ['--limit=key=513'] }, '--limit key: it cannot be "513"'],
    ['a limit', { args: ['--limit=ttl=25h'] }, '--limit ttl: it cannot be "25h"'],
    ['a limit', { args: ['--limit=body=1GiB'] }, '--limit body: it cannot be "1GiB"'],
    ['a limit', { args: ['--limit', 'body'] }, '--limit: it cannot be "body": use NAME=VALUE'],
    ['a limit', { file: 'limit = 5' }, 'serve.toml: limit: it has to be a table'],
    [
      'a name in the file',
      { file: 'session_grace = 1' },
      'serve.toml: session_grace: there is no such setting; did you mean session-grace?',
    ],
    [
      'a name in the file',
      { file: '__proto__ = 1' },
      'serve.toml: __proto__: there is no such setting',
    ],
    ['the file', { file: 'port = ' }, 'serve.toml: it is not TOML (line 1)'],
    ['the file', { file: '{"port": ' }, 'serve.toml: it begins like JSON and is not'],
  ])('%s: %j', (_, given, message) => {
    expect(() => read(given)).toThrow(message)
  })

  it('a file that cannot be read is named', () => {
    const readFile = (): string => {
      throw new Error('ENOENT: no such file, open "x.toml"')
    }
    expect(() => readServeSettings({ args: ['--config=x.toml'], env: {}, readFile })).toThrow(
      /^--config: .*x\.toml/,
    )
    const env = { HOLDFAST_CONFIG: 'x.toml' }
    expect(() => readServeSettings({ args: [], env, readFile })).toThrow(
      /^HOLDFAST_CONFIG: .*x\.toml/,
    )
  })

  it('variables of other commands, and those of Kubernetes, are left alone', () => {
    const env = {
      HOLDFAST_TOKEN: 't',
      HOLDFAST_SERVER: 'u',
      HOLDFAST_SERVICE_HOST: '10.0.0.1',
      HOLDFAST_SERVICE_PORT: '7400',
      HOLDFAST_SERVICE_PORT_HTTP: '7400',
      HOLDFAST_PORT: 'tcp://10.0.0.1:7400',
      HOLDFAST_PORT_7400_TCP: 'tcp://10.0.0.1:7400',
      HOLDFAST_PORT_7400_TCP_ADDR: '10.0.0.1',
    }
    expect(read({ env })).toEqual(read({}))
  })

  it('other variables that begin like ours are a warning', () => {
    const env = { HOLDFAST_RETENTON: '1', HOLDFAST_NOTHING_OF_THE_KIND: '1' }
    expect(read({ env }).warnings).toEqual([
      'HOLDFAST_RETENTON is no setting; did you mean HOLDFAST_RETENTION?',
      'HOLDFAST_NOTHING_OF_THE_KIND is no setting',
    ])
  })
})
