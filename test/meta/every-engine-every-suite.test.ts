import { describe, expect, it } from 'vitest'
import { ENGINE_SUITES } from '../../src/testing/engine-suite/index.ts'
import {
  ENGINE_TESTS,
  type EngineCoverage,
  findUnregisteredSuites,
  findUntestedEngines,
  type ListedTest,
} from './guards/engine-coverage.ts'
import { runTool } from './guards/run-tool.ts'
import { readSourceFiles, REPOSITORY, type SourceFile } from './guards/source-file.ts'

/** What vitest would run in the long dose, without running it. */
function listConformanceTests(): ListedTest[] {
  const args = ['list', '--mode', 'long', '--project', 'conformance', '--json']
  const { stdout } = runTool('vitest/vitest.mjs', { cwd: REPOSITORY, args })
  return JSON.parse(stdout) as ListedTest[]
}

const suites = Object.values(ENGINE_SUITES).map(({ name }) => name)

describe('the engines', () => {
  it('all run every suite in the long dose', () => {
    const enginePaths = readSourceFiles('src/engines').map(({ path }) => path)
    const listed = listConformanceTests()
    const coverage = { engineTests: ENGINE_TESTS, enginePaths, suites, listed }
    expect(findUntestedEngines(coverage)).toEqual([])
  })

  it('are tested by suites that are all registered', () => {
    const files = readSourceFiles('src/testing/engine-suite', /\.ts$/)
    expect(findUnregisteredSuites(files)).toEqual([])
    expect(suites.length).toBeGreaterThan(0)
    expect(new Set(suites).size).toBe(suites.length)
  })
})

describe('the check of the engines', () => {
  const good: EngineCoverage = {
    engineTests: { embedded: ['memory'], 'sql/sqlite': ['sqlite'] },
    enginePaths: ['src/engines/embedded/a.ts', 'src/engines/sql/sqlite/a.ts'],
    suites: ['exclusion', 'fencing'],
    listed: ['memory', 'sqlite'].flatMap((engine) => [
      { name: `${engine} > exclusion > a`, file: `test/conformance/${engine}.test.ts` },
      { name: `${engine} > fencing > b`, file: `test/conformance/${engine}.test.ts` },
    ]),
  }

  it('is content when each runs every suite', () => {
    expect(findUntestedEngines(good)).toEqual([])
  })

  it('reports an engine without a conformance test', () => {
    const listed = good.listed.filter(({ file }) => !file.includes('sqlite'))
    expect(findUntestedEngines({ ...good, listed })).toHaveLength(2)
  })

  it('reports a suite that an engine does not run', () => {
    const listed = good.listed.filter(({ name }) => name !== 'memory > fencing > b')
    const faults = findUntestedEngines({ ...good, listed })
    expect(faults).toEqual(['test/conformance/memory.test.ts does not run the suite "fencing"'])
  })

  it('reports an engine that nobody listed', () => {
    const enginePaths = [...good.enginePaths, 'src/engines/redis/redis-engine.ts']
    expect(findUntestedEngines({ ...good, enginePaths })).toHaveLength(1)
  })

  it('reports an engine that is listed and gone', () => {
    const enginePaths = ['src/engines/embedded/a.ts']
    expect(findUntestedEngines({ ...good, enginePaths })).toHaveLength(1)
  })

  it('reports a suite that is not registered', () => {
    const folder = 'src/testing/engine-suite'
    const files: readonly SourceFile[] = [
      { path: `${folder}/index.ts`, text: `import { a } from './a.ts'` },
      { path: `${folder}/a.ts`, text: `export const a: EngineSuite = { name: 'a', tests: [] }` },
      { path: `${folder}/b.ts`, text: `export const b: EngineSuite = { name: 'b', tests: [] }` },
      { path: `${folder}/answers.ts`, text: 'export const answers: string[] = []' },
    ]
    expect(findUnregisteredSuites(files)).toEqual([
      `${folder}/b.ts is not registered in ${folder}/index.ts`,
    ])
  })
})
