/** The child of an `EngineProcess`: opens engines on databases, and does with them what the parent says. */
import { setImmediate } from 'node:timers/promises'
import type { LockEngine, Watching } from '../../src/engine/engine.ts'
import { isLockError } from '../../src/engine/errors/errors.ts'
import { openSqlEngine } from '../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../src/engines/sql/sql-dialect.ts'
import { LeapingClock } from './leaping-clock.ts'
import type {
  ChildCall,
  ChildFailure,
  ChildMessage,
  ChildRequest,
  OpenChildEngine,
  OpenedChildEngine,
} from './engine-messages.ts'
import { openDatabase } from './open-database.ts'

interface Hosted {
  readonly engine: LockEngine
  readonly database: SqlDatabase
  readonly clock: LeapingClock | undefined
}

const hosted = new Map<number, Hosted>()
const watches = new Map<number, Watching>()
const waits = new Map<number, AbortController>()
let opened = 0

async function open(options: OpenChildEngine): Promise<OpenedChildEngine> {
  const { virtualNowMs, settings } = options
  const clock = virtualNowMs === undefined ? undefined : new LeapingClock(virtualNowMs)
  const database = await openDatabase(options.database)
  const engine = await openSqlEngine(async () => database, {
    settings,
    clock,
    isClockOurs: clock !== undefined,
  })
  opened += 1
  hosted.set(opened, { engine, database, clock })
  return { engine: opened, capabilities: engine.capabilities }
}

function find(number: number): Hosted {
  const found = hosted.get(number)
  if (found === undefined) throw new Error(`engine ${number} is not open`)
  return found
}

async function apply(id: number, call: ChildCall & { kind: 'apply' }): Promise<unknown> {
  const controller = new AbortController()
  if (call.isAborted) controller.abort()
  waits.set(id, controller)
  try {
    return await find(call.engine).engine.apply(call.command, { signal: controller.signal })
  } finally {
    waits.delete(id)
  }
}

/** A watch has the number of the request that it was asked for with. */
async function watch(id: number, call: ChildCall & { kind: 'watch' }): Promise<void> {
  const { engine } = find(call.engine)
  const watching = await engine.watch(call.filter, (event) => send({ watch: id, event }))
  watches.set(id, watching)
}

async function advance({ clock, engine }: Hosted, ms: number): Promise<void> {
  if (clock === undefined) throw new Error('this engine is not on a virtual clock')
  await clock.advance(ms)
  await engine.read({ kind: 'stats' })
  await setImmediate()
}

/** Begins at once, so that what arrives in an order is given to the engine in that order. */
async function reply(id: number, call: ChildCall): Promise<void> {
  try {
    send({ id, result: await answer(id, call) })
  } catch (error) {
    send({ id, failure: toFailure(error) })
  }
}

function answer(id: number, call: ChildCall): Promise<unknown> {
  switch (call.kind) {
    case 'open':
      return open(call.options)
    case 'apply':
      return apply(id, call)
    case 'read':
      return find(call.engine).engine.read(call.query)
    case 'watch':
      return watch(id, call)
    case 'unwatch':
      return watches.get(call.watch)?.close() ?? Promise.resolve()
    case 'advance':
      return advance(find(call.engine), call.ms)
    case 'close':
      return find(call.engine).engine.close()
    case 'abandon':
      return find(call.engine).database.close()
  }
}

function toFailure(error: unknown): ChildFailure {
  if (isLockError(error)) {
    const { message, code, applied, details } = error
    return { message, code, applied, details }
  }
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

function send(message: ChildMessage): void {
  process.send?.(message)
}

process.on('message', (request: ChildRequest) => {
  if ('abort' in request) {
    waits.get(request.abort)?.abort()
    return
  }
  const { id, call } = request
  void reply(id, call)
})

process.on('disconnect', () => process.exit(0))
