import {
  defineConfig,
  type TestProjectInlineConfiguration,
  type ViteUserConfigFnObject,
} from 'vitest/config'

const SECOND_MS = 1_000
const HOUR_MS = 3_600 * SECOND_MS

/** Folders of test/ that are a project of their own; every other folder is in the project "unit". */
const OWN_PROJECTS: Readonly<Record<string, number>> = {
  conformance: 60 * SECOND_MS,
  simulation: 120 * SECOND_MS,
  faults: 600 * SECOND_MS,
  meta: 120 * SECOND_MS,
  bench: 300 * SECOND_MS,
  services: 120 * SECOND_MS,
}

interface ProjectOptions {
  readonly name: string
  readonly include: string
  readonly exclude?: string[]
  readonly timeoutMs: number
}

function createProject(options: ProjectOptions): TestProjectInlineConfiguration {
  const { name, include, exclude = [], timeoutMs } = options
  const timeouts = { testTimeout: timeoutMs, hookTimeout: timeoutMs }
  return { extends: true, test: { name, include: [include], exclude, ...timeouts } }
}

function createProjects(isLong: boolean): TestProjectInlineConfiguration[] {
  const own = Object.entries(OWN_PROJECTS).map(([name, timeoutMs]) =>
    createProject({
      name,
      include: `test/${name}/**/*.test.ts`,
      timeoutMs: isLong ? HOUR_MS : timeoutMs,
    }),
  )
  const unit = createProject({
    name: 'unit',
    include: 'test/**/*.test.ts',
    exclude: Object.keys(OWN_PROJECTS).map((name) => `test/${name}/**`),
    timeoutMs: isLong ? HOUR_MS : 60 * SECOND_MS,
  })
  return [unit, ...own]
}

/** `vitest --mode long` gives the tests that count in rounds or seeds their large dose. */
const config: ViteUserConfigFnObject = defineConfig(({ mode }) => {
  const isLong = mode === 'long' || process.env['HOLDFAST_TEST_DOSE'] === 'long'
  return {
    test: {
      pool: 'forks',
      maxWorkers: 2,
      // A condition is waited for until it holds; on a busy machine that takes longer than a second.
      expect: { poll: { timeout: 30 * SECOND_MS } },
      env: isLong ? { HOLDFAST_TEST_DOSE: 'long' } : {},
      projects: createProjects(isLong),
    },
  }
})

export default config
