import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCENARIO_NAMES } from '../../bench/scenario-list.ts'
import type { Row, Summary } from '../../bench/report/summary.ts'
import { startMariadb } from '../services/mariadb.ts'
import { startPostgres } from '../services/postgres.ts'
import type { Service } from '../services/service.ts'

const run = promisify(execFile)
const RUN_MS_MAX = 600_000
/** Everybody whose code no other one of these shares: what differs only in its settings is left out. */
const WHO = [
  ...['withLock', 'engine alone', 'journal alone', 'locks.acquire', 'held', 'waiters'],
  ...['async-mutex', 'verrou memory', 'Holdfast', 'node:http alone'],
  ...['redlock, tuned', 'redis-semaphore, tuned', 'verrou, tuned', 'ioredis by hand, tuned'],
  ...['advisory', 'GET_LOCK', 'row', 'verrou on MariaDB, tuned'],
]
/** Ours, where all ask through one connection: between two of them, nobody can say who asked first. */
const IN_ORDER = /withLock|engine|waiters|^Holdfast session(, durable)?$|^Holdfast on \w+$/

/** Every scenario for some seconds: minutes in all, so only in the long dose. */
describe.runIf(process.env['HOLDFAST_TEST_DOSE'] === 'long')('a quick run of the bench', () => {
  let folder: string
  let databases: readonly Service[] = []
  let printed: string
  let summary: Summary

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-test-'))
    databases = await Promise.all([startPostgres(), startMariadb()])
    // Shared by all contestants: to start one for each of them takes longer than everything else.
    const [postgres, mariadb] = databases as [Service, Service]
    const env = {
      ...process.env,
      HOLDFAST_TEST_POSTGRES_URL: postgres.url,
      HOLDFAST_TEST_MARIADB_URL: mariadb.url,
    }
    const json = join(folder, 'summary.json')
    const who = WHO.flatMap((text) => ['--who', text])
    const args = ['run', '--silent', 'bench', '--', '--quick', '--json', json, ...who]
    printed = (await run('npm', args, { env })).stdout
    summary = JSON.parse(readFileSync(json, 'utf8')) as Summary
  }, RUN_MS_MAX)

  afterAll(async () => {
    await Promise.all(databases.map((database) => database.stop()))
    rmSync(folder, { recursive: true, force: true })
  })

  const listRows = (): Row[] => summary.scenarios.flatMap(({ rows }) => rows)

  it('measures contestants of every kind in every case of every scenario', () => {
    expect(summary.scenarios.map(({ name }) => name)).toEqual(SCENARIO_NAMES)
    for (const { caseName, contestant, value } of listRows()) {
      expect(value, `${caseName}, ${contestant}`).toBeGreaterThan(0)
    }
  })

  it('sees nobody overtaken in our queues', () => {
    const ours = listRows().filter(({ contestant }) => IN_ORDER.test(contestant))
    const overtakes = ours.flatMap(({ counts }) => counts['overtakes'] ?? [])
    expect(overtakes.length).toBeGreaterThan(0)
    expect(overtakes.filter((count) => count !== 0)).toEqual([])
  })

  it('prints a table for every scenario, with targets', () => {
    for (const name of SCENARIO_NAMES) expect(printed).toContain(`### ${name}\n`)
    expect(printed).toMatch(/\| withLock : async-mutex .* at least 1\.00 × /)
  })
})
