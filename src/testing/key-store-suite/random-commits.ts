import assert from 'node:assert/strict'
import type { CommitResult, KeyChange, KeyStore, LoadedKey } from '../../engines/store/key-store.ts'
import type { Random } from '../random.ts'
import { key, type KeyStoreRig, part } from './key-store-rig.ts'
import { type KeyStoreSuite, keyStoreTest } from './key-store-test.ts'
import { ModelKeyStore } from './model-key-store.ts'

const NAMES = ['a', 'b', 'c'].map((name) => key(name))
const LABELS = ['session:s', 'node:n']
const IDS = ['0', '1', '2', '3']
const STEPS = 150
/** With turns a process has its own long before. */
const TRIES_MAX = 1_000

function randomChange(random: Random, expected: string, nowMs: number): KeyChange {
  const name = random.pick(NAMES)
  if (random.chance(0.1)) return { kind: 'check', name, expected }
  if (random.chance(0.15)) return { kind: 'remove', name, expected }
  const [put, removed] = random.shuffle(IDS)
  const puts = [part('wait', put as string, String(random.int(0, 99)))]
  const removes = random.chance(0.5) ? [{ group: 'wait', id: removed as string }] : []
  const labels = new Map([[random.pick(LABELS), random.chance(0.6)]])
  const dueAtMs = random.pick([undefined, null, nowMs + random.int(-20, 200)])
  const counts = { holds: random.int(0, 3), waiters: 0, references: 0, ended: 0 }
  const head = `head ${random.int(0, 99)}`
  return { kind: 'write', name, expected, head, puts, removes, labels, dueAtMs, counts }
}

async function compare(rig: KeyStoreRig, model: ModelKeyStore): Promise<void> {
  for (const name of NAMES) {
    const expected = model.find(name)
    const { version, head, parts } = await rig.load(name)
    assert.equal(version, expected?.version ?? '')
    assert.equal(head, expected?.head ?? null)
    const inOrder = [...(expected?.parts ?? [])].toSorted(([one], [other]) =>
      one < other ? -1 : 1,
    )
    assert.deepEqual(
      parts.map(({ id, body }) => [id, body]),
      inOrder,
    )
  }
  const present = model.all().toSorted((one, other) => (one.name.name < other.name.name ? -1 : 1))
  const listed = await rig.p.list({ space: 'lock', prefix: '', limit: 10 })
  assert.deepEqual(
    listed,
    present.map(({ name }) => name.name),
  )
  for (const label of LABELS) {
    const found = await rig.p.find({ label, limit: 10 })
    const labelled = present.filter(({ labels }) => labels.has(label))
    assert.deepEqual(
      found,
      labelled.map(({ name }) => name),
    )
  }
  const { holds, keys } = await rig.p.count()
  assert.equal(keys.lock, present.length)
  assert.equal(
    holds,
    present.reduce((sum, one) => sum + one.holds, 0),
  )
  const { names, nowMs, nextAtMs } = await rig.p.due(10)
  for (const { name, dueAtMs } of present) {
    if (dueAtMs === null || names.some((one) => one.name === name.name)) continue
    assert.ok(dueAtMs > nowMs, `${name.name} is due and not told`)
    assert.ok(nextAtMs !== null && nextAtMs <= dueAtMs, `${name.name} is due before the next one`)
  }
}

/** Adds one to the number in the head, and a part of that name, until the store has taken it. */
async function increment(store: KeyStore, present: LoadedKey): Promise<void> {
  const name = present.name
  let found = present
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { nowMs } = await store.load([])
    const next = String(Number(found.head ?? 0) + 1)
    const change: KeyChange = {
      ...{ kind: 'write', name, expected: found.version, head: next },
      puts: [part('n', next.padStart(4, '0'), store.process)],
    }
    const { results } = await store.commit([change], { atMs: nowMs, turn: tries > 0 })
    const [result] = results as readonly [CommitResult]
    if (result.kind === 'committed') return
    assertWhole(result.key)
    found = result.key
  }
  assert.fail(`${store.process} was refused ${TRIES_MAX} times`)
}

/** As many parts as the head says: neither is seen without the other. */
function assertWhole({ head, parts }: LoadedKey): void {
  assert.equal(parts.length, Number(head ?? 0))
}

export const randomCommitsSuite: KeyStoreSuite = {
  name: 'random commits',
  tests: [
    keyStoreTest('two processes that commit at random leave what a simple model says', (rig) =>
      rig.withRandom(async (random) => {
        const model = new ModelKeyStore()
        const versions = new Set<string>()
        for (let step = 0; step < STEPS; step += 1) {
          const nowMs = await rig.nowMs()
          const drawn = randomChange(random, 'x', nowMs)
          const present = model.find(drawn.name)?.version ?? ''
          const change = random.chance(0.8) ? { ...drawn, expected: present } : drawn
          const by = random.pick(['p', 'q'] as const)
          const result = await rig.commit(change, { by })
          assert.equal(result.kind, change.expected === present ? 'committed' : 'conflict')
          if (result.kind === 'committed' && change.kind === 'remove') model.remove(change.name)
          if (result.kind === 'committed' && change.kind === 'write') {
            assert.ok(
              !versions.has(`${change.name.name} ${result.version}`),
              'a version came again',
            )
            versions.add(`${change.name.name} ${result.version}`)
            model.write(change, result.version)
          }
          if (random.chance(0.3)) await rig.advance(random.int(1, 40))
          await compare(rig, model)
        }
      }),
    ),

    keyStoreTest(
      'no commit is lost or half applied when processes write over each other',
      async (rig) => {
        const name = key('counter')
        const rounds = 15
        const absent = await rig.load(name)
        const work = [rig.p, rig.q, rig.p, rig.q].map(async (store) => {
          for (let round = 0; round < rounds; round += 1) await increment(store, absent)
        })
        const looks = Promise.all(
          Array.from({ length: 20 }, async () => assertWhole(await rig.load(name))),
        )
        await Promise.all([...work, looks])
        const { head, parts } = await rig.load(name)
        assert.equal(head, String(work.length * rounds))
        const byP = parts.filter(({ body }) => body === 'p').length
        assert.deepEqual([byP, parts.length], [2 * rounds, 4 * rounds])
      },
    ),
  ],
}
