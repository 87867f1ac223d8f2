import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCENARIO_NAMES } from '../../bench/scenario-list.ts'
import type { Row, Summary } from '../../bench/summary.ts'

const RUN_MS_MAX = 300_000
/** Ours, where all ask through one connection: between two of them, nobody can say who asked first. */
const IN_ORDER = /withLock|engine|waiters|^Holdfast session(, durable)?$/

describe('a quick run of the bench', () => {
  let folder: string
  let printed: string
  let summary: Summary

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-test-'))
    const json = join(folder, 'summary.json')
    const args = ['run', '--silent', 'bench', '--', '--quick', '--json', json]
    const { status, stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    printed = stdout
    summary = JSON.parse(readFileSync(json, 'utf8')) as Summary
  }, RUN_MS_MAX)

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const listRows = (): Row[] => summary.scenarios.flatMap(({ rows }) => rows)

  it('measures every contestant in every case of every scenario', () => {
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
