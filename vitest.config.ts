import {
  defineConfig,
  type TestProjectInlineConfiguration,
  type ViteUserConfigFnObject,
} from 'vitest/config'
import { listSlowTests } from './scripts/list-slow-tests.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600 * SECOND_MS

/** Folders of test/ that are a project of their own; every other folder is in the project "unit". */
const OWN_PROJECTS: Readonly<Record<string, number>> = {
  conformance: 120 * SECOND_MS,
  simulation: 120 * SECOND_MS,
  faults: 600 * SECOND_MS,
  meta: 120 * SECOND_MS,
  bench: 300 * SECOND_MS,
  services: 120 * SECOND_MS,
}

/** Tests that search long for something that is not there; the project "search", which runs before "unit". */
const SEARCHES: readonly string[] = [
  'test/law/exploration*.test.ts',
  'test/law/wrong-laws.test.ts',
  'test/server/fuzz.test.ts',
  'test/simulation/planted-bugs.test.ts',
]

/** Tests that choose something for the rest of their process, and so have one of their own. */
const ALONE: readonly string[] = ['test/server/engines/*.test.ts']

interface ProjectOptions {
  readonly name: string
  readonly include: readonly string[]
  readonly exclude?: string[]
  readonly timeoutMs: number
  readonly isolate?: boolean
}

/** Files share processes: each costs half a second of CPU time less where what it imports is there already. */
function createProject(options: ProjectOptions): TestProjectInlineConfiguration {
  const { name, include, exclude = [], timeoutMs, isolate = false } = options
  const timeouts = { testTimeout: timeoutMs, hookTimeout: timeoutMs }
  return { extends: true, test: { name, include: [...include], exclude, isolate, ...timeouts } }
}

/** `left` are files that are not to be run. */
function createProjects(isLong: boolean, left: string[]): TestProjectInlineConfiguration[] {
  const own = Object.entries(OWN_PROJECTS).map(([name, timeoutMs]) =>
    createProject({
      name,
      include: [`test/${name}/**/*.test.ts`],
      exclude: [...SEARCHES, ...left],
      timeoutMs: isLong ? HOUR_MS : timeoutMs,
    }),
  )
  const timeoutMs = isLong ? HOUR_MS : 120 * SECOND_MS
  const others = Object.keys(OWN_PROJECTS).map((name) => `test/${name}/**`)
  return [
    createProject({ name: 'alone', include: ALONE, exclude: left, timeoutMs, isolate: true }),
    createProject({ name: 'search', include: SEARCHES, exclude: left, timeoutMs }),
    createProject({
      name: 'unit',
      include: ['test/**/*.test.ts'],
      exclude: [...others, ...SEARCHES, ...ALONE, ...left],
      timeoutMs,
    }),
    ...own,
  ]
}

/**
 * `vitest --mode long` gives the tests that count in rounds or seeds their large dose, `--mode fast` leaves
 * out those that start processes or servers, and those that take minutes by themselves.
 */
const config: ViteUserConfigFnObject = defineConfig(({ mode }) => {
  const isLong = mode === 'long' || process.env['HOLDFAST_TEST_DOSE'] === 'long'
  return {
    test: {
      pool: 'forks',
      // Files that wait for other processes, or for time to pass, leave the cores to the others.
      maxWorkers: 4,
      // A condition is waited for until it holds; on a busy machine that takes longer than a second.
      expect: { poll: { timeout: 30 * SECOND_MS } },
      env: isLong ? { HOLDFAST_TEST_DOSE: 'long' } : {},
      projects: createProjects(isLong, mode === 'fast' ? listSlowTests(import.meta.dirname) : []),
    },
  }
})

export default config
