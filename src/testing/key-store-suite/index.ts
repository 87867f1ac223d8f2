import type { KeyStore } from '../../engines/store/key-store.ts'
import type { TestRunner } from '../engine-suite/run-engine-suites.ts'
import { commitsSuite } from './commits.ts'
import type { KeyStoreFixture, OpenedKeyStore } from './key-store-fixture.ts'
import { KeyStoreRig } from './key-store-rig.ts'
import type { KeyStoreNeed, KeyStoreSuite, KeyStoreTest } from './key-store-test.ts'
import { listsSuite } from './lists.ts'
import { loadsSuite } from './loads.ts'
import { lossesSuite } from './losses.ts'
import { noticesSuite } from './notices.ts'
import { randomCommitsSuite } from './random-commits.ts'
import { timesSuite } from './times.ts'
import { tracesSuite } from './traces.ts'
import { turnsSuite } from './turns.ts'

/** Every suite that every key store passes. */
export const KEY_STORE_SUITES: readonly KeyStoreSuite[] = [
  commitsSuite,
  loadsSuite,
  turnsSuite,
  timesSuite,
  listsSuite,
  noticesSuite,
  lossesSuite,
  tracesSuite,
  randomCommitsSuite,
]

/** Register every suite for one store with a test runner. */
export function runKeyStoreSuites(fixture: KeyStoreFixture, runner: TestRunner): void {
  runner.describe(fixture.name, () => {
    for (const { name, tests } of KEY_STORE_SUITES) {
      runner.describe(name, () => {
        for (const test of tests) {
          runner.it(test.title, async (context) => {
            const reason = await runKeyStoreTest(fixture, test)
            if (reason !== null) context.skip(reason)
          })
        }
      })
    }
  })
}

/** Run one test on a fresh store. Returns why it was skipped, if it was; a test that fails throws. */
export async function runKeyStoreTest(
  fixture: KeyStoreFixture,
  test: KeyStoreTest,
): Promise<string | null> {
  const opened = await fixture.open()
  try {
    const stores = { p: await opened.connect('p'), q: await opened.connect('q') }
    const subject = { fixture, opened, store: stores.p }
    const reasons = test.needs.map((need) => findMissing(need, subject))
    const reason = reasons.find((one) => one !== null) ?? null
    if (reason === null) await test.run(new KeyStoreRig(fixture, opened, stores))
    return reason
  } finally {
    await opened.close()
  }
}

interface Subject {
  readonly fixture: KeyStoreFixture
  readonly opened: OpenedKeyStore
  readonly store: KeyStore
}

function findMissing(
  need: KeyStoreNeed,
  { fixture, opened, store: { facts } }: Subject,
): string | null {
  switch (need) {
    case 'virtual-time':
      return fixture.isVirtual ? null : 'it needs a virtual clock'
    case 'pushes':
      return facts.pushes ? null : 'the store pushes no notices'
    case 'no-pushes':
      return facts.pushes ? 'the store pushes notices' : null
    case 'checks-others':
      return facts.checksOthers ? null : 'the store does not check other keys'
    case 'history':
      return facts.keepsHistory ? null : 'the store keeps no history'
    case 'no-history':
      return facts.keepsHistory ? 'the store keeps a history' : null
    case 'mark':
      return opened.mark === undefined ? 'the fixture cannot lose commits' : null
    case 'size':
      return opened.size === undefined ? 'the fixture cannot count records' : null
  }
}
