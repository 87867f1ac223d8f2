import type { KeyStore } from '../../engines/store/key-store.ts'

/** What the suite needs to know about a key store in order to test it. */
export interface KeyStoreFixture {
  /** Shown in the titles. */
  readonly name: string

  /** A fresh and empty store. */
  open(): Promise<OpenedKeyStore>

  /** Whether its clock stands still until `advance` moves it. Otherwise what is said of exact moments is not tested. */
  readonly isVirtual: boolean

  /** How many real milliseconds a test waits for what has to happen by itself. */
  readonly patienceMs: number

  /** The seed of every random test, to replay a failure; drawn anew for each when absent. */
  readonly seed?: string | undefined
}

export interface OpenedKeyStore {
  connect(process: string): Promise<KeyStore>

  /** Let this much time pass on the store's clock. Resolves when it has. */
  advance(ms: number): Promise<void>

  /** Remember the present state. The function that this resolves with loses every commit since. */
  mark?(): Promise<() => Promise<void>>

  /** How many records the store keeps, of every kind that can grow. */
  size?(): Promise<number>

  /** Close every connection, and remove what was stored. */
  close(): Promise<void>
}
