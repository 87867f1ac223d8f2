/** The child of a `ServerHost`: opens servers and moves their clocks as the parent says. */
import { setImmediate } from 'node:timers/promises'
import type { LockEngine } from '../../src/engine/engine.ts'
import { openFileEngine, openMemoryEngine } from '../../src/engines/embedded/embedded-engine.ts'
import { LockServer } from '../../src/server/lock-server.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import type { Clock } from '../../src/time/clock.ts'
import type {
  HostAnswer,
  HostCall,
  HostedServerOptions,
  HostRequest,
  OpenedServer,
} from './host-messages.ts'

interface Hosted {
  readonly server: LockServer
  readonly engine: LockEngine
  readonly clock: VirtualClock | undefined
}

/** Turns of the event loop in which what already arrived at a socket is read, and answers leave. */
const TURNS = 3

const hosted = new Map<number, Hosted>()
let opened = 0

async function open(options: HostedServerOptions): Promise<OpenedServer> {
  const clock = options.virtualClock === true ? new VirtualClock({ nowMs: 1_000 }) : undefined
  const engine = await openEngine(options, clock)
  try {
    const server = await LockServer.open({ ...options, engine, clock })
    opened += 1
    hosted.set(opened, { server, engine, clock })
    return { server: opened, url: server.url, port: server.address.port }
  } catch (error) {
    await engine.close()
    throw error
  }
}

async function openEngine(
  { engine: store, ...rest }: HostedServerOptions,
  clock: Clock | undefined,
): Promise<LockEngine> {
  const options = { ...rest, clock }
  return store === 'memory:' ? openMemoryEngine(options) : openFileEngine(store.file, options)
}

async function advance(clock: VirtualClock | undefined, ms: number): Promise<void> {
  if (clock === undefined) throw new Error('this server is not on a virtual clock')
  for (let turn = 0; turn < TURNS; turn += 1) await setImmediate()
  await clock.advance(ms)
  for (let turn = 0; turn < TURNS; turn += 1) await setImmediate()
}

async function close(number: number): Promise<void> {
  const { server, engine } = find(number)
  hosted.delete(number)
  await server.close()
  await engine.close()
}

function find(number: number): Hosted {
  const found = hosted.get(number)
  if (found === undefined) throw new Error(`server ${number} is not open`)
  return found
}

async function answer(call: HostCall): Promise<OpenedServer | undefined> {
  switch (call.kind) {
    case 'open':
      return open(call.options)
    case 'advance':
      await advance(find(call.server).clock, call.ms)
      return undefined
    case 'close':
      await close(call.server)
      return undefined
  }
}

async function reply({ id, call }: HostRequest): Promise<HostAnswer> {
  try {
    const result = await answer(call)
    return result === undefined ? { id } : { id, opened: result }
  } catch (error) {
    return { id, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

async function end(): Promise<void> {
  for (const number of [...hosted.keys()]) await close(number)
  process.exit(0)
}

process.on('message', (request: HostRequest) => {
  void reply(request).then((message) => process.send?.(message))
})

// The parent said good-bye, or is gone: a claimed directory is given back either way.
process.on('disconnect', () => void end())
