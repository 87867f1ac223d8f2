import type { KeyStoreRig } from './key-store-rig.ts'

/** One property of every key store, and the tests that show it. */
export interface KeyStoreSuite {
  readonly name: string
  readonly tests: readonly KeyStoreTest[]
}

export interface KeyStoreTest {
  /** A fact in the present tense, unique in its suite. */
  readonly title: string
  /** What not every store or fixture has; the test is skipped where one of them is missing. */
  readonly needs: readonly KeyStoreNeed[]
  run(rig: KeyStoreRig): Promise<void>
}

export type KeyStoreNeed =
  | 'virtual-time'
  | 'pushes'
  | 'no-pushes'
  | 'checks-others'
  | 'history'
  | 'no-history'
  | 'mark'
  | 'size'

type Run = KeyStoreTest['run']
type Needs = KeyStoreNeed | readonly KeyStoreNeed[]

export function keyStoreTest(title: string, run: Run): KeyStoreTest
export function keyStoreTest(title: string, needs: Needs, run: Run): KeyStoreTest
export function keyStoreTest(title: string, needsOrRun: Needs | Run, run?: Run): KeyStoreTest {
  if (typeof needsOrRun === 'function') return { title, needs: [], run: needsOrRun }
  if (run === undefined) throw new TypeError(`the test "${title}" does nothing`)
  return { title, needs: [needsOrRun].flat(), run }
}
