/**
 * You run a workflow engine in several processes, and each node of a workflow, and each turn of a loop, is
 * to be run by one of them at a time. The leases are in the database that the engines have anyway.
 *
 * Three engines run one workflow. One is killed in the middle of a turn; when its lease has run out,
 * another takes over. Nothing runs twice at once.
 *
 *   node --import tsx examples/workflow-engine/workflow-engine.ts [URL of a database]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type EngineMessage, FATAL, STAGES, type TableAnswer } from './plan.ts'

const ENGINE = fileURLToPath(new URL('engine.ts', import.meta.url))

/** One engine running one piece of work; `to` is open while it does. */
interface Span {
  readonly key: string
  readonly engine: string
  readonly token: number
  readonly from: number
  to: number
}

const done = new Set<string>()
const spans: Span[] = []
const fences = new Map<string, number>()

/** What stands in the tables of the workflow: what is done, and the highest token that wrote it. */
function write(engine: string, { kind, key, token }: EngineMessage): void {
  if (token < (fences.get(key) ?? 0)) return
  fences.set(key, token)
  if (kind === 'begin') {
    if (!done.has(key)) spans.push({ key, engine, token, from: performance.now(), to: Infinity })
    return
  }
  endSpans(engine)
  done.add(key)
}

function endSpans(engine: string): void {
  for (const span of spans) {
    if (span.engine === engine && span.to === Infinity) span.to = performance.now()
  }
}

function startEngine(url: string, engine: string): ChildProcess {
  const child = fork(ENGINE, [url, engine], { execArgv: ['--import', 'tsx'] })
  child.on('message', (message: EngineMessage) => {
    write(engine, message)
    if (message.key === FATAL && message.kind === 'begin') onFatal(child, engine)
    const answer: TableAnswer = { done: [...done] }
    if (child.connected) child.send(answer, () => {})
  })
  child.once('exit', () => endSpans(engine))
  return child
}

let victim: string | undefined

function onFatal(child: ChildProcess, engine: string): void {
  if (victim === undefined) {
    victim = engine
    console.log(`one engine is killed in the middle of ${FATAL}`)
    child.kill('SIGKILL')
  } else if (!done.has(FATAL)) {
    console.log(`another takes over ${FATAL}`)
  }
}

/** Whether any two engines ran the same piece of work at the same moment. */
function ranTwiceAtOnce(): boolean {
  return spans.some((one, index) =>
    spans.slice(index + 1).some((other) => other.key === one.key && other.from < one.to),
  )
}

const directory = mkdtempSync(join(tmpdir(), 'holdfast-workflow-'))
const url = process.argv[2] ?? `sqlite:${join(directory, 'workflow.db')}`
const engines = ['engine-1', 'engine-2', 'engine-3'].map((engine) => startEngine(url, engine))
await Promise.all(engines.map((child) => once(child, 'exit')))

const all = STAGES.flat()
const twice = all.filter((key) => spans.filter((span) => span.key === key).length > 1)
const [first, second] = spans.filter(({ key }) => key === FATAL)
console.log(`done: ${done.size} of ${all.length}`)
console.log(`begun twice: ${twice.join(', ')}`)
console.log(`by another engine: ${first?.engine === second?.engine ? 'no' : 'yes'}`)
console.log(`ran twice at once: ${ranTwiceAtOnce() ? 'yes' : 'no'}`)
rmSync(directory, { recursive: true })
