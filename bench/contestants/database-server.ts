import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Service } from '../../test/services/service.ts'
import type { Locker } from './locker.ts'

/** Where the locks are kept. Every database syncs each commit, as it does by default. */
export type DatabaseName = 'PostgreSQL' | 'MariaDB' | 'SQLite'

/** The address of a database, and what takes it away again. */
type OpenedDatabase = Pick<Service, 'url' | 'stop'>

/** Each is loaded when it is opened. */
const DATABASES: Readonly<Record<DatabaseName, () => Promise<OpenedDatabase>>> = {
  PostgreSQL: async () => {
    const { startPostgres } = await import('../../test/services/postgres.ts')
    return startPostgres({ isDurable: true })
  },
  MariaDB: async () => {
    const { startMariadb } = await import('../../test/services/mariadb.ts')
    return startMariadb({ isDurable: true })
  },
  SQLite: async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
    const stop = (): Promise<void> => rm(directory, { recursive: true })
    return { url: `sqlite:${join(directory, 'locks.db')}`, stop }
  },
}

/** A locker on a database that it has for itself. */
export async function openOnDatabase(
  name: DatabaseName,
  open: (url: string) => Promise<Locker> | Locker,
): Promise<Locker> {
  const { url, stop } = await DATABASES[name]()
  try {
    const locker = await open(url)
    return {
      cycle: locker.cycle,
      close: async () => {
        await locker.close()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}
