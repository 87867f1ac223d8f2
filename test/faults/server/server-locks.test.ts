import { setTimeout as pass } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { isLockError } from '../../../src/engine/errors/errors.ts'
import { connect } from '../../../src/locks/connect.ts'
import type { LockHandle } from '../../../src/locks/lease/lock-handle.ts'
import type { Locks } from '../../../src/locks/locks.ts'
import { Patience } from '../../../src/testing/engine-suite/queue/patience.ts'
import { Random } from '../../../src/testing/random.ts'
import { ServerScene } from './server-scene.ts'

const ROUNDS = process.env['HOLDFAST_TEST_DOSE'] === 'long' ? 20 : 1
const SEED = process.env['HOLDFAST_SEED'] ?? String(Date.now() % 1_000_000)
const CLIENTS = 60
const KEYS = 6
/** Of holds and of sessions: one of the pauses is shorter, and one is longer. */
const TTL_MS = 3_000
const USES_PER_PHASE = 100

const patience = new Patience(60_000)
let scene: ServerScene | undefined
const clients: Locks[] = []

afterEach(async () => {
  await Promise.all(clients.splice(0).map((locks) => locks.close()))
  await scene?.close()
  scene = undefined
})

/** Who has what, as the handles say it: all of them live in this process and are asked at one instant. */
class Board {
  readonly #handles = new Map<string, Set<LockHandle>>()
  readonly #tokens = new Map<string, number>()
  readonly violations: string[] = []
  uses = 0

  enter(key: string, lock: LockHandle): void {
    const handles = this.#handles.get(key) ?? new Set()
    this.#handles.set(key, handles.add(lock))
  }

  leave(key: string, lock: LockHandle): void {
    this.#handles.get(key)?.delete(lock)
  }

  /** What a holder does with what the lock protects, if it believes that it may. */
  use(key: string, lock: LockHandle): boolean {
    if (!lock.isHeld) return false
    this.uses += 1
    const rivals = [...(this.#handles.get(key) ?? [])].filter((other) => {
      const isExclusive = lock.mode === 'write' || other.mode === 'write'
      return other !== lock && isExclusive && other.isHeld
    })
    for (const { token } of rivals) {
      this.violations.push(`${key}: tokens ${lock.token} and ${token} are both held`)
    }
    const highest = this.#tokens.get(key) ?? 0
    if (lock.mode === 'write' && lock.token < highest) {
      this.violations.push(`${key}: token ${lock.token} is held after ${highest}`)
    }
    if (lock.mode === 'write') this.#tokens.set(key, Math.max(highest, lock.token))
    return true
  }
}

interface Work {
  readonly board: Board
  readonly random: Random
  readonly isOver: () => boolean
}

/** One client, until it is told to stop. What it is refused for good reasons is not a failure. */
async function work(locks: Locks, { board, random, isOver }: Work): Promise<void> {
  while (!isOver()) {
    const key = `key-${random.int(1, KEYS)}`
    const lock = await take(locks, key, random.chance(0.4) ? 'read' : 'write')
    if (lock === undefined) continue
    board.enter(key, lock)
    for (let use = random.int(1, 4); use > 0 && board.use(key, lock); use -= 1) {
      await pass(random.int(0, 15))
    }
    try {
      await lock.release()
    } catch (error) {
      // Two faults in a row outlast the patience of a release, which then goes on in the background.
      if (!isLockError(error, 'LOCK_ENGINE_UNAVAILABLE')) throw error
    }
    board.leave(key, lock)
  }
}

/**
 * `undefined` where the server was away for longer than a request is repeated, or than the lease of a grant
 * that it could not tell.
 */
async function take(
  locks: Locks,
  key: string,
  mode: 'read' | 'write',
): Promise<LockHandle | undefined> {
  try {
    return await locks.acquire(key, { mode, ttl: TTL_MS })
  } catch (error) {
    const isAway = isLockError(error, 'LOCK_ENGINE_UNAVAILABLE')
    if (isAway || isLockError(error, 'LOCK_REQUEST_ENDED')) return undefined
    throw error
  }
}

async function pauseFor(server: ServerScene, ms: number): Promise<void> {
  server.server.pause()
  await pass(ms)
  server.server.resume()
}

function createScene(graceMs: number): ServerScene {
  const nobody = { sessions: 0, processes: 0, restMsMax: 0 }
  scene = new ServerScene({ seed: SEED, graceMs, ...nobody })
  return scene
}

it('a release that gave up on its server is made good when that is back', async () => {
  const server = createScene(120_000)
  await server.open()
  const locks = await connect(server.url, { owner: 'holder' })
  clients.push(locks)
  const lock = await locks.acquire('k', { ttl: 60_000 })
  await server.kill()
  await expect(lock.release()).rejects.toMatchObject({ code: 'LOCK_ENGINE_UNAVAILABLE' })
  await server.restart()
  const other = await connect(server.url, { owner: 'other' })
  clients.push(other)
  const next = await other.acquire('k', { wait: 30_000 })
  expect(next.token).toBeGreaterThan(lock.token)
})

it('no two handles of one lock are held at once, whatever becomes of the server', async () => {
  const server = createScene(TTL_MS)
  await server.open()
  const board = new Board()
  const random = new Random(SEED)
  for (let index = 0; index < CLIENTS; index += 1) {
    clients.push(await connect(server.url, { owner: `c${index}`, heartbeatThread: false }))
  }
  let isOver = false
  const working = Promise.all(
    clients.map((locks, index) => {
      return work(locks, { board, random: random.fork(`${index}`), isOver: () => isOver })
    }),
  )
  let failure: unknown
  working.catch((error: unknown) => {
    failure = error
  })
  const goesOn = async (): Promise<void> => {
    const target = board.uses + USES_PER_PHASE
    await patience.until(() => board.uses >= target || failure !== undefined, 'the work goes on')
  }
  const faults = [
    () => server.kill().then(() => server.restart()),
    () => server.stop().then(() => server.restart()),
    () => pauseFor(server, TTL_MS / 3),
    () => pauseFor(server, 2 * TTL_MS),
  ]
  await goesOn()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const fault of random.shuffle(faults)) {
      await fault()
      await goesOn()
    }
  }
  isOver = true
  await patience.answer(working, 'everyone is served and stops')
  expect(board.violations, `seed ${SEED}`).toEqual([])
  await Promise.all(clients.splice(0).map((locks) => locks.close()))
  await patience.until(async () => {
    const { holds, waiters, sessions } = await server.stats()
    return holds + waiters + sessions === 0
  }, 'nothing is left when all have left')
}, 1_800_000)
