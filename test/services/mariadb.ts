import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { symlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { DatabaseOptions, Service } from './service.ts'
import { type Site, startService } from './start-service.ts'

const run = promisify(execFile)
const CONNECTIONS_MAX = 500
/** The first byte after the header of the greeting: the version of the protocol. */
const GREETING_BYTE = 4
const PROTOCOL_VERSION = 10

/** A MariaDB of its own, with an empty database `test` and a user `root` who needs no password. */
export function startMariadb(options: DatabaseOptions = {}): Promise<Service> {
  const flushes = options.isDurable === true ? 1 : 0
  return startService(
    {
      sources: {
        name: 'mariadbd',
        folders: ['/usr/sbin', '/usr/libexec'],
        systemPackage: 'mariadb-server',
        variable: 'HOLDFAST_TEST_MARIADB_URL',
      },
      prepare: createDatabase,
      listArgs: (site) => [
        ...listCommonArgs(site),
        ...[`--port=${site.port}`, '--bind-address=127.0.0.1', '--skip-name-resolve'],
        ...[`--socket=${join(site.directory, 'socket')}`, '--innodb-buffer-pool-size=32M'],
        ...[`--innodb-flush-log-at-trx-commit=${flushes}`, `--max-connections=${CONNECTIONS_MAX}`],
      ],
      probe: ({ port }) => awaitGreeting(port),
      toUrl: (port) => `mysql://root@127.0.0.1:${port}/test`,
      stopSignal: 'SIGTERM',
    },
    options,
  )
}

/** Scripts of MariaDB cannot stand a space in a path, so what was unpacked is reached by another. */
function baseOf({ directory }: Site): string {
  return join(directory, 'base')
}

function listCommonArgs(site: Site): string[] {
  const { directory, program } = site
  const asRoot = process.getuid?.() === 0 ? ['--user=root'] : []
  const base = program.root === undefined ? [] : [`--basedir=${baseOf(site)}`]
  // A server that starts removes the temporary tables in there, whosever they are.
  const temporary = `--tmpdir=${directory}`
  return ['--no-defaults', ...asRoot, ...base, temporary, `--datadir=${join(directory, 'data')}`]
}

async function createDatabase(site: Site): Promise<void> {
  const { path, root, environment } = site.program
  if (root !== undefined) await symlink(join(root, 'usr'), baseOf(site))
  const folder = root === undefined ? join(dirname(path), '..', 'bin') : join(baseOf(site), 'bin')
  const install = join(folder, 'mariadb-install-db')
  await run(install, [...listCommonArgs(site), '--auth-root-authentication-method=normal'], {
    cwd: site.directory,
    env: { ...process.env, ...environment },
  })
}

/** The server speaks first, once it is ready for connections. */
async function awaitGreeting(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  try {
    const [greeting] = (await once(socket, 'data')) as [Buffer]
    if (greeting[GREETING_BYTE] !== PROTOCOL_VERSION)
      throw new Error('not the greeting of a server')
  } finally {
    socket.destroy()
  }
}
