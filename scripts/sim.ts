import { execFileSync, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { toFailureText } from '../src/testing/simulator/failure-text.ts'
import { FAULT_KINDS, type FaultKind, isFaultKind } from '../src/testing/simulator/fault-kinds.ts'
import { runSimulation, type SimulationOptions } from '../src/testing/simulator/run-simulation.ts'
import { shrinkFailure } from '../src/testing/simulator/shrink.ts'
import { openEmbedded } from '../test/simulation/open-embedded.ts'

// Runs the simulator on the embedded engine.
//
//   npm run sim -- --seed 123              one seed: the same world, the same trace, every time
//   npm run sim -- --seeds 10000           that many seeds, from 1 or from --seed on
//
//   --steps N          events before the faults end
//   --only a,b         of the faults of a seed, only these; --without a,b: all but these
//   --clients c1,c2    of the clients of a seed, only these
//   --verbose          the whole trace
//   --no-shrink        report a failure as it is
//   --workers N        processes that share the seeds

const USAGE = `faults: ${FAULT_KINDS.join(', ')}`
const SEEDS_PER_TASK = 25
const FAILURES_MAX = 5

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    steps: { type: 'string' },
    only: { type: 'string' },
    without: { type: 'string' },
    clients: { type: 'string' },
    workers: { type: 'string' },
    verbose: { type: 'boolean', default: false },
    'no-shrink': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

interface Task {
  readonly from: number
  readonly count: number
}

/** What became of some seeds. */
interface Tally {
  seeds: number
  steps: number
  answered: number
  readonly failures: { readonly seed: number; readonly property: string }[]
  readonly faults: Partial<Record<FaultKind, number>>
}

function optionsOf(seed: number): SimulationOptions {
  return {
    seed,
    open: openEmbedded,
    steps: values.steps === undefined ? undefined : toCount(values.steps),
    only: toFaults(values.only),
    without: toFaults(values.without),
    clients: values.clients?.split(','),
  }
}

function toCount(text: string): number {
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 0) return refuse(`not a count: ${text}`)
  return count
}

function toFaults(text: string | undefined): FaultKind[] | undefined {
  return text?.split(',').map((name) => {
    return isFaultKind(name) ? name : refuse(`no such fault: ${name}\n${USAGE}`)
  })
}

function refuse(why: string): never {
  console.error(why)
  process.exit(64)
}

function commit(): string | undefined {
  try {
    const run = (...args: string[]): string =>
      execFileSync('git', args, { encoding: 'utf8' }).trim()
    return run('rev-parse', '--short', 'HEAD') + (run('status', '--porcelain') ? ', changed' : '')
  } catch {
    return undefined
  }
}

/** A rejection that nobody handles belongs to the seed that is running. */
async function runSeed(options: SimulationOptions): Promise<ReturnType<typeof runSimulation>> {
  const report = await runSimulation(options)
  await new Promise((resolve) => setImmediate(resolve))
  return report
}

async function runTask({ from, count }: Task): Promise<Tally> {
  const tally: Tally = { seeds: 0, steps: 0, answered: 0, failures: [], faults: {} }
  for (let seed = from; seed < from + count; seed += 1) {
    current = seed
    const { problem, steps, answered, faults } = await runSeed(optionsOf(seed))
    tally.seeds += 1
    tally.steps += steps
    tally.answered += answered
    addFaults(tally.faults, faults)
    if (problem !== undefined) tally.failures.push({ seed, property: problem.property })
  }
  return tally
}

function addFaults(to: Tally['faults'], from: Tally['faults']): void {
  for (const kind of FAULT_KINDS) to[kind] = (to[kind] ?? 0) + (from[kind] ?? 0)
}

/** Runs one seed and tells about it; when it fails, a smaller failure is looked for. */
async function tell(seed: number): Promise<boolean> {
  const options = optionsOf(seed)
  const report = await runSeed(options)
  if (values.verbose) console.log(report.trace.tail().join('\n'))
  const { steps, virtualMs, answered, hash } = report
  const length = `${steps} steps, ${virtualMs.toFixed(0)} ms, ${answered} calls answered`
  if (report.problem === undefined) {
    console.log(`seed ${seed} passes: ${length}, trace ${hash}`)
    return true
  }
  const text = { commit: commit() }
  if (values['no-shrink']) {
    console.log(toFailureText(report, text))
    return false
  }
  const shrunk = await shrinkFailure(options, report)
  console.log(toFailureText(shrunk.report, text))
  console.log(`  replay  ${toCommand(shrunk.options)}`)
  console.log(`  whole   npm run sim -- --seed ${seed} --no-shrink: ${length}, trace ${hash}`)
  return false
}

function toCommand({ seed, steps, without, clients }: SimulationOptions): string {
  const parts = [`npm run sim -- --seed ${seed} --no-shrink`]
  if (steps !== undefined) parts.push(`--steps ${steps}`)
  if (without !== undefined && without.length > 0) parts.push(`--without ${without.join(',')}`)
  if (clients !== undefined) parts.push(`--clients ${clients.join(',')}`)
  return parts.join(' ')
}

async function runMany(from: number, count: number): Promise<boolean> {
  const startedAt = performance.now()
  const total: Tally = { seeds: 0, steps: 0, answered: 0, failures: [], faults: {} }
  let next = from
  const takeTask = (): Task | undefined => {
    const left = from + count - next
    if (left <= 0 || total.failures.length >= FAILURES_MAX) return undefined
    const task = { from: next, count: Math.min(SEEDS_PER_TASK, left) }
    next += task.count
    return task
  }
  const add = (tally: Tally): void => {
    total.seeds += tally.seeds
    total.steps += tally.steps
    total.answered += tally.answered
    total.failures.push(...tally.failures)
    addFaults(total.faults, tally.faults)
    if (process.stdout.isTTY) process.stdout.write(`\r${total.seeds} of ${count} seeds`)
  }
  const workers = values.workers === undefined ? availableParallelism() : toCount(values.workers)
  await Promise.all(Array.from({ length: workers }, () => runWorker(takeTask, add)))
  const seconds = (performance.now() - startedAt) / 1000
  if (process.stdout.isTTY) process.stdout.write('\r')
  console.log(
    `${total.seeds} seeds from ${from} on: ${total.failures.length} failed, ` +
      `${total.steps} steps, ${total.answered} calls answered, ${seconds.toFixed(0)} s`,
  )
  console.log(FAULT_KINDS.map((kind) => `${kind} ${total.faults[kind] ?? 0}`).join(', '))
  for (const { seed } of total.failures.slice(0, FAILURES_MAX)) await tell(seed)
  return total.failures.length === 0
}

/** A process of its own, which is given seeds until there are none left. */
function runWorker(takeTask: () => Task | undefined, add: (tally: Tally) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = fork(fileURLToPath(import.meta.url), process.argv.slice(2))
    const hand = (): void => {
      const task = takeTask()
      if (task === undefined) worker.disconnect()
      else worker.send(task)
    }
    worker.on('message', (tally: Tally) => {
      add(tally)
      hand()
    })
    worker.on('error', reject)
    worker.on('exit', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`a worker ended with ${code}`))
    })
    hand()
  })
}

let current = 0
process.on('unhandledRejection', (error) => {
  console.error(`seed ${current} leaves a rejection that nobody handles:`, error)
  process.exit(1)
})

if (process.send !== undefined) {
  process.on('message', (task: Task) => {
    runTask(task).then(
      (tally) => process.send?.(tally),
      (error: unknown) => {
        console.error(`seed ${current} ends the simulator:`, error)
        process.exit(1)
      },
    )
  })
} else if (values.help) {
  console.log('npm run sim -- [--seed N] [--seeds N] [--steps N] [--only a,b] [--without a,b]')
  console.log(USAGE)
} else {
  const from = toCount(values.seed ?? '1')
  const isFine =
    values.seeds === undefined ? await tell(from) : await runMany(from, toCount(values.seeds))
  process.exitCode = isFine ? 0 : 1
}
