/**
 * One program, any engine: locks, readers and writers, a queue, work that is done once, an operation of
 * several nodes, and what an operator sees of it. Wherever the locks are kept, it prints the same.
 *
 *   node --import tsx examples/any-engine/any-engine.ts file:./locks
 *   node --import tsx examples/any-engine/any-engine.ts sqlite:./locks.db
 *   node --import tsx examples/any-engine/any-engine.ts postgres://user:password@127.0.0.1/database
 *   node --import tsx examples/any-engine/any-engine.ts mysql://user:password@127.0.0.1/database
 *
 * It expects to be alone there: a second run finds what the first one remembered.
 */
import { connect, isLockError, type LockHandle } from 'holdfast'

const [url = 'memory:'] = process.argv.slice(2)
const locks = await connect(url, { owner: 'example', history: true })

/** Tokens only grow; by how much is the engine's business. So they are shown in the order of a key. */
const tokens = new Map<string, number[]>()

function showToken({ key, token }: { readonly key: string; readonly token: number }): string {
  const seen = tokens.get(key) ?? []
  tokens.set(key, seen)
  if (!seen.includes(token)) {
    if (token < (seen.at(-1) ?? 0)) return 'a token that went back'
    seen.push(token)
  }
  return `token ${seen.indexOf(token) + 1}`
}

function say(text: string): void {
  console.log(text)
}

/** The code of what goes wrong. */
async function failureOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt
    return 'nothing went wrong'
  } catch (error) {
    return isLockError(error) ? error.code : String(error)
  }
}

async function untilQueued(key: string, count: number, kind?: 'operation'): Promise<void> {
  while ((await locks.inspect(key, { kind })).queueLength < count) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function takeTurns(): Promise<void> {
  const first = await locks.acquire('orders/42', { owner: 'ann' })
  say(`ann holds orders/42 under ${showToken(first)}`)
  const tried = await locks.tryAcquire('orders/42', { owner: 'bob' })
  say(`bob tries: ${tried === null ? 'it is held' : 'it is free'}`)
  say(`bob waits a little: ${await failureOf(locks.acquire('orders/42', { wait: 50 }))}`)
  const waiting: Promise<void>[] = []
  for (const [index, owner] of ['bob', 'cem', 'dee'].entries()) {
    const turn = locks.acquire('orders/42', { owner }).then(async (lock) => {
      say(`${owner} has its turn under ${showToken(lock)}`)
      await lock.release()
    })
    waiting.push(turn)
    await untilQueued('orders/42', index + 1)
  }
  const { holders, queue } = await locks.inspect('orders/42')
  say(
    `held by ${holders.map(({ owner }) => owner).join()}, then ${queue.map(({ owner }) => owner).join()}`,
  )
  await first.release()
  await Promise.all(waiting)
}

async function readAndWrite(): Promise<void> {
  const [one, two] = (await Promise.all(
    ['ann', 'bob'].map((owner) => locks.acquire('config', { owner, mode: 'read' })),
  )) as [LockHandle, LockHandle]
  const writer = await locks.tryAcquire('config')
  say(`ann and bob read; somebody writes: ${writer === null ? 'not now' : 'now'}`)
  const before = showToken(one)
  const upgrading = one.upgrade()
  await untilQueued('config', 1)
  say(`ann wants to write; bob too: ${await failureOf(two.upgrade())}`)
  await two.release()
  await upgrading
  say(`ann writes under a new token: ${before !== showToken(one)}`)
  await one.downgrade()
  const reader = await locks.tryAcquire('config', { owner: 'bob', mode: 'read' })
  say(`ann reads again, and so does bob: ${reader !== null}`)
  await reader?.release()
  await one.release()
  await using all = await locks.acquireAll(['b', 'a', 'c'])
  say(`all of them at once, in one order: ${all.locks.map(({ key }) => key).join()}`)
}

async function pullOnce(): Promise<void> {
  const layer = 'sha256:4f06'
  const begun = await locks.begin('pull', layer, { node: 'node-1' })
  if (begun.kind !== 'acquired') throw new Error(`this is not the first run: ${begun.kind}`)
  say('node-1 pulls')
  const others = ['node-2', 'node-3'].map(async (node) => {
    const outcome = await locks.begin('pull', layer, { node })
    return outcome.kind === 'skipped' ? `${node} skips: ${JSON.stringify(outcome.value)}` : node
  })
  await untilQueued(layer, 2, 'operation')
  await begun.operation.finish({ success: true, value: { sizeBytes: 4096 } })
  for (const line of await Promise.all(others)) say(line)
  say(`used by ${(await locks.references(layer)).toSorted().join()}`)
  say(`a delete: ${await failureOf(locks.begin('delete', layer, { node: 'node-1' }))}`)
  for (const node of ['node-1', 'node-2', 'node-3']) await locks.unref({ resource: layer, node })
  const deleting = await locks.begin('delete', layer, { node: 'node-1' })
  say(`a delete when nobody uses it: ${deleting.kind}`)
  if (deleting.kind === 'acquired') await deleting.operation.finish({ success: true })
  const again = await locks.begin('pull', layer, { node: 'node-2' })
  say(`a pull after the delete: ${again.kind}`)
  if (again.kind === 'acquired') await again.operation.finish({ success: false, error: 'no space' })
}

async function buildOnce(): Promise<void> {
  let runs = 0
  const build = async (): Promise<{ rows: number }> => {
    runs += 1
    return { rows: 3 }
  }
  const built = await Promise.all([1, 2, 3].map(() => locks.once('report/today', build)))
  say(
    `the report was built ${runs} time; everybody has ${JSON.stringify(built.map((one) => one.value))}`,
  )
}

async function lookAsOperator(): Promise<void> {
  const held = await locks.acquire('jobs/nightly', { owner: 'stuck', ttl: '6s' })
  await locks.acquire('jobs/hourly', { owner: 'fine' })
  const { locks: found } = await locks.list({ prefix: 'jobs/' })
  for (const { key, holders } of found) say(`${key}: ${holders.map(({ owner }) => owner).join()}`)
  say(`taken away from stuck: ${await locks.forceRelease('jobs/nightly')}`)
  while (held.isHeld) await new Promise((resolve) => setTimeout(resolve, 5))
  await held.release()
  say('its handle has noticed, and its release did no harm')
  for (const { key, owner, end, ...entry } of await locks.history({ key: 'jobs/nightly' })) {
    say(`${key} was held by ${owner} under ${showToken({ key, token: entry.token })}: ${end}`)
  }
  const turns = await locks.history({ key: 'orders/42', kind: 'lock' })
  say(`orders/42 was held by, latest first: ${turns.map(({ owner }) => owner).join()}`)
}

await takeTurns()
await readAndWrite()
await pullOnce()
await buildOnce()
await lookAsOperator()
await locks.close()
