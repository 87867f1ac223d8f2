import type { LockEngine } from '../engine/engine.ts'
import { createError } from '../engine/errors/errors.ts'
import { loadDriver } from '../engines/sql/load-driver.ts'
import { openEngine, parseEngineUrl } from '../locks/open-engine.ts'
import type { WorkflowLeases } from './workflow-leases.ts'

/** Those of databases. */
const SCHEMES: ReadonlySet<string> = new Set([
  'sqlite',
  'postgres',
  'postgresql',
  'mysql',
  'mariadb',
])

/**
 * Workflow leases in a database: `sqlite:FILE`, `postgres://USER:PASSWORD@HOST/DATABASE`,
 * `mysql://USER:PASSWORD@HOST/DATABASE`, with the packages that `connect` needs for it; or on an engine
 * that has one open. The tables are made if they are not there. `workflow_locks` and
 * `workflow_assignments` must not be the names of tables that somebody else made.
 *
 * @example
 * ```ts
 * import { openWorkflowLeases, toNodeKey } from 'holdfast/workflow'
 *
 * const leases = await openWorkflowLeases('sqlite:./workflows.db')
 * const key = toNodeKey('123', 'fetch-calendars')
 * if (await leases.acquireLock(key, 'engine-1', 'node', 30_000)) {
 *   await leases.releaseLock(key, 'engine-1')
 * }
 * await leases.close()
 * ```
 */
export async function openWorkflowLeases(where: string | LockEngine): Promise<WorkflowLeases> {
  if (typeof where !== 'string') return openOn(where, async () => {})
  const url = parseEngineUrl(where)
  const opening = url && SCHEMES.has(url.scheme) ? openEngine(url, { settings: {} }) : undefined
  if (opening === undefined) {
    const known = [...SCHEMES].map((scheme) => `${scheme}:`).join(', ')
    throw createError('LOCK_UNKNOWN_ENGINE', `workflow leases need a database: ${known}`)
  }
  const { engine, close } = await opening
  try {
    return await openOn(engine, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function openOn(engine: LockEngine, close: () => Promise<void>): Promise<WorkflowLeases> {
  await loadDriver('kysely', () => import('kysely'))
  const { SqlWorkflowLeases } = await import('./sql-workflow-leases.ts')
  return SqlWorkflowLeases.open(engine, close)
}
