import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { HistoryEntry, HistoryRecord } from '../../src/testing/history.ts'
import { checkHistory } from '../../src/testing/history-checks.ts'
import { Random } from '../../src/testing/random.ts'

const ROUNDS = process.env['HOLDFAST_TEST_DOSE'] === 'long' ? 150 : 20
const SEED = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)
/** An operation without an answer multiplies the search for a legal order, so keys change now and then. */
const ROUNDS_PER_GENERATION = 3
const TAKER = fileURLToPath(new URL('lock-taker.ts', import.meta.url))

let directory = ''
let child: ChildProcess | undefined

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-kill-'))
})

afterEach(async () => {
  child?.kill('SIGKILL')
  await rm(directory, { recursive: true, force: true })
})

interface Line {
  readonly at: number
  readonly call?: string
  readonly ret?: string
  readonly ready?: boolean
}

/** Gathers what the lives of the child said into one history. */
class Gatherer {
  readonly records: HistoryRecord[] = []
  readonly #open = new Map<string, number>()
  acknowledged = 0

  take({ at, call, ret, ready, ...rest }: Line & Record<string, unknown>): void {
    if (ready === true) this.records.push({ kind: 'mark', name: 'restart', at })
    if (call !== undefined) {
      this.#open.set(call, this.records.length)
      const entry = {
        kind: 'op',
        id: this.records.length,
        call: at,
        ret: Infinity,
        outcome: 'info',
      }
      this.records.push({ ...entry, ...rest } as unknown as HistoryEntry)
    }
    const index = ret === undefined ? undefined : this.#open.get(ret)
    if (index === undefined) return
    this.acknowledged += 1
    this.records[index] = { ...this.records[index], ...rest, ret: at } as unknown as HistoryEntry
  }
}

/** One life: until it has been told enough, then it is killed in the middle of its work. */
async function live(gatherer: Gatherer, args: readonly number[]): Promise<void> {
  const log = join(directory, 'log')
  const parts = [TAKER, join(directory, 'data'), log, ...args.map(String)]
  const taker = spawn(process.execPath, ['--import', 'tsx', ...parts])
  child = taker
  let complaint = ''
  taker.stderr.on('data', (chunk: Buffer) => {
    complaint += String(chunk)
  })
  taker.stdout.once('data', () => taker.kill('SIGKILL'))
  const signal = await new Promise((resolve) => {
    taker.on('exit', (_code, by) => resolve(by))
  })
  expect(signal, complaint).toBe('SIGKILL')
  for (const line of (await readFile(log, 'utf8')).split('\n')) {
    // The last line may have been cut off in the middle by the kill.
    if (line.endsWith('}')) gatherer.take(JSON.parse(line) as Line & Record<string, unknown>)
  }
  await rm(log)
  gatherer.records.push({ kind: 'mark', name: 'crash', at: Number(process.hrtime.bigint()) / 1e6 })
}

it(`nothing acknowledged is lost by ${ROUNDS} rounds of kill -9 under load`, async () => {
  const random = new Random(SEED)
  const gatherer = new Gatherer()
  for (let round = 0; round < ROUNDS; round += 1) {
    const generation = Math.floor(round / ROUNDS_PER_GENERATION)
    await live(gatherer, [generation, SEED + round, random.int(40, 160)])
  }
  // The last life only shows that everything works after the last fault.
  const after = gatherer.acknowledged
  await live(gatherer, [ROUNDS, SEED + ROUNDS, 60])
  gatherer.records.pop()
  expect(gatherer.acknowledged).toBeGreaterThan(after)
  const report = checkHistory(gatherer.records, { clockRateError: 0 })
  expect(report.counts.faults).toBeGreaterThanOrEqual(2 * ROUNDS)
  expect(report.violations, `seed ${SEED}`).toEqual([])
  expect(report.verdict, `seed ${SEED}`).toBe('pass')
}, 1_800_000)
