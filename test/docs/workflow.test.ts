import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listFences } from '../meta/guards/fences.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PATH = 'docs/workflow.md'
const programs = listFences({ path: PATH, text: readFileSync(join(ROOT, PATH), 'utf8') })

let folder: string

/** A project in which the package is installed, and the drivers with it. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-workflow-docs-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules/holdfast'))
})

afterAll(() => rmSync(folder, { recursive: true }))

function run(code: string): string {
  writeFileSync(join(folder, 'program.mjs'), code)
  const { status, stdout, stderr } = spawnSync(process.execPath, ['program.mjs'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  return stdout
}

describe('the page about workflow leases', () => {
  it('shows how to take a lock, and that works', () => {
    expect(run(programs[0]?.code ?? '')).toMatch(
      /^engine-\d+ runs node:123:fetch-calendars until \S+Z, token 1\n0 leases had run out\n$/,
    )
  })

  it('shows how to drop months, and that works', () => {
    expect(run(programs[1]?.code ?? '')).toBe('[]\n')
  })
})
