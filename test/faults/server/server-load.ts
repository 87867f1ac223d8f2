/**
 * A process with many clients of one server, which take and give back locks and run operations until
 * they are told that the last fault is over. What they asked and were told goes into a history.
 *
 * node --import tsx server-load.ts OPTIONS (JSON; see `LoadOptions`)
 */
import { writeFileSync } from 'node:fs'
import { SessionEngine } from '../../../src/engines/remote/session-engine.ts'
import { dumpHistory } from '../../../src/testing/history.ts'
import { HistoryRecorder } from '../../../src/testing/history-recorder.ts'
import { Random } from '../../../src/testing/random.ts'
import { HostClock } from './server-host-clock.ts'
import { LoadClient } from './server-load-client.ts'
import { LoadNotes } from './server-load-notes.ts'
import type { LoadNews, LoadOptions, LoadOrder } from './server-messages.ts'

const KEYS = 36
const RESOURCES = 8
const OPENED_AT_ONCE = 50
const NEWS_MS = 50
/** Longer than any life of the server and its restart takes, however busy the machine. */
const RETRY_FOR_MS = 300_000

const options = JSON.parse(process.argv[2] ?? '') as LoadOptions
const clock = new HostClock()
const recorder = new HistoryRecorder(clock)
const notes = new LoadNotes()
const random = new Random(options.seed)
let generation = 0
let isHealing = false
let hasBegunToHeal = (): void => {}
const healing = new Promise<void>((resolve) => {
  hasBegunToHeal = resolve
})

function tell(news: LoadNews): void {
  process.send?.(news)
}

async function openClient(index: number): Promise<LoadClient> {
  const name = `${options.name}-${index}`
  const remote = { clock, retryForMs: RETRY_FOR_MS }
  const engine = await SessionEngine.open(options.url, {
    ...remote,
    client: name,
    heartbeatThread: false,
  })
  return new LoadClient({
    name,
    engine,
    recorder,
    clock,
    notes,
    random: random.fork(name),
    pickKey: (from) => `g${generation}/key-${from.int(1, KEYS)}`,
    pickResource: (from) => `g${generation}/resource-${from.int(1, RESOURCES)}`,
    restMsMax: options.restMsMax,
    waitMs: options.waitMs,
    ttlMs: options.ttlMs,
    isOver: () => isHealing,
  })
}

process.on('message', (order: LoadOrder) => {
  if (order.kind === 'generation') {
    generation = order.generation
  } else {
    isHealing = true
    hasBegunToHeal()
  }
})

const clients: LoadClient[] = []
while (clients.length < options.sessions) {
  const indexes = Array.from(
    { length: Math.min(OPENED_AT_ONCE, options.sessions - clients.length) },
    (_, offset) => clients.length + offset,
  )
  clients.push(...(await Promise.all(indexes.map(openClient))))
}
const news = setInterval(() => {
  for (const client of clients) client.noteLife()
  tell({
    kind: 'answered',
    count: clients.reduce((sum, { answered }) => sum + answered, 0),
    latestCallMs: Math.max(...clients.map(({ latestCallMs }) => latestCallMs)),
  })
}, NEWS_MS)
tell({ kind: 'opened' })
await Promise.all(clients.map((client) => client.work()))
await healing
const served = await Promise.all(clients.map((client) => client.isServed()))
// Only when the last one was served does the first one leave: its leaving frees what it held.
await Promise.all(clients.map((client) => client.leave()))
clearInterval(news)
const history = [...recorder.history(), ...clients.flatMap(({ beats }) => beats)]
writeFileSync(options.historyPath, dumpHistory(history))
tell({
  kind: 'done',
  report: { ...notes.report(), served: served.filter((isServed) => isServed).length },
})
process.disconnect()
