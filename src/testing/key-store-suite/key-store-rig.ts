import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type {
  AskedKey,
  CommitOptions,
  CommitResult,
  KeyChange,
  KeyName,
  KeyStore,
  KeyWrite,
  LoadedKey,
  Part,
  Space,
  Version,
} from '../../engines/store/key-store.ts'
import { Patience } from '../engine-suite/queue/patience.ts'
import { Random } from '../random.ts'
import type { KeyStoreFixture, OpenedKeyStore } from './key-store-fixture.ts'

/** The processes that every test has. */
export type ProcessName = 'p' | 'q'

type Committing = Partial<CommitOptions> & { readonly by?: ProcessName | undefined }
type WriteFields = Partial<Omit<KeyWrite, 'kind' | 'name'>>

/** One store under test with two processes connected, `p` and `q`, and the short verbs in which the tests are written. */
export class KeyStoreRig {
  readonly patience: Patience
  readonly opened: OpenedKeyStore
  readonly stores: Readonly<Record<ProcessName, KeyStore>>
  readonly #fixture: KeyStoreFixture

  constructor(
    fixture: KeyStoreFixture,
    opened: OpenedKeyStore,
    stores: Readonly<Record<ProcessName, KeyStore>>,
  ) {
    this.#fixture = fixture
    this.opened = opened
    this.stores = stores
    this.patience = new Patience(fixture.patienceMs)
  }

  get p(): KeyStore {
    return this.stores.p
  }

  get q(): KeyStore {
    return this.stores.q
  }

  /** Store time. */
  async nowMs(): Promise<number> {
    return (await this.p.load([])).nowMs
  }

  async load(name: KeyName, asked: Omit<AskedKey, 'name'> = {}): Promise<LoadedKey> {
    const { keys } = await this.p.load([{ name, ...asked }])
    assert.equal(keys.length, 1)
    return keys[0] as LoadedKey
  }

  /** One change, decided for this moment, whatever becomes of it. */
  async commit(
    change: KeyChange,
    { by = 'p', turn, atMs }: Committing = {},
  ): Promise<CommitResult> {
    const options = { atMs: atMs ?? (await this.nowMs()), turn }
    const { results } = await this.stores[by].commit([change], options)
    assert.equal(results.length, 1)
    return results[0] as CommitResult
  }

  /** A write that is committed, over whatever version there is. */
  async write(name: KeyName, fields: WriteFields = {}, by: ProcessName = 'p'): Promise<Version> {
    const { version: expected } = await this.load(name)
    const change = { kind: 'write', name, expected, head: 'head', ...fields } as const
    return asCommitted(await this.commit(change, { by }))
  }

  /** In as many writes as the store needs for them. */
  async writeParts(name: KeyName, parts: readonly Part[]): Promise<void> {
    const step = Math.min(this.p.facts.partChangesMax, parts.length)
    for (let from = 0; from < parts.length; from += step) {
      await this.write(name, { puts: parts.slice(from, from + step) })
    }
  }

  /** A removal that is committed. */
  async remove(name: KeyName, by: ProcessName = 'p'): Promise<void> {
    const { version: expected } = await this.load(name)
    assert.equal(asCommitted(await this.commit({ kind: 'remove', name, expected }, { by })), '')
  }

  async advance(ms: number): Promise<void> {
    await this.opened.advance(ms)
  }

  /** Runs with random numbers whose seed is in the failure. */
  async withRandom(run: (random: Random) => Promise<void>): Promise<void> {
    const seed = this.#fixture.seed ?? randomUUID()
    try {
      await run(new Random(seed))
    } catch (error) {
      if (error instanceof Error) error.message += ` (seed ${seed})`
      throw error
    }
  }
}

export function key(name: string, space: Space = 'lock'): KeyName {
  return { space, name }
}

export function part(group: string, id: string, body: string = id): Part {
  return { group, id, body }
}

/** As many parts as this, in order. */
export function manyParts(group: string, count: number): Part[] {
  return Array.from({ length: count }, (_, index) => part(group, String(index).padStart(6, '0')))
}

export function asCommitted(result: CommitResult): Version {
  assert.equal(result.kind, 'committed')
  return (result as CommitResult & { kind: 'committed' }).version
}

export type Refusal = Exclude<CommitResult['kind'], 'committed'>

/** The present state that came with a refusal. */
export function asRefused(result: CommitResult, kind: Refusal): LoadedKey {
  assert.equal(result.kind, kind)
  return (result as CommitResult & { kind: Refusal }).key
}
