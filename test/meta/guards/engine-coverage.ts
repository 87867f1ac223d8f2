import { parseSync, Visitor } from 'vite'
import { listImports } from './module-imports.ts'
import type { SourceFile } from './source-file.ts'

/**
 * The engines, by their folder in src/engines/, and the tests in test/conformance/ that each has: one
 * for every way to open it.
 */
export const ENGINE_TESTS: Readonly<Record<string, readonly string[]>> = {
  embedded: ['embedded-memory', 'embedded-file'],
  remote: ['remote-session', 'remote-session-faults'],
  'sql/sqlite': ['sqlite', 'sqlite-pair'],
  'sql/postgres': ['postgres', 'postgres-pair'],
  'sql/mysql': ['mysql', 'mysql-pair'],
}

/** Folders of src/engines/ that hold no engine: what several are to be built on. */
const FOUNDATIONS: readonly string[] = ['store']

const SUITE_FOLDER = 'src/testing/engine-suite'

/** A test as vitest lists it. */
export interface ListedTest {
  /** `fixture > suite > title`. */
  readonly name: string
  readonly file: string
}

export interface EngineCoverage {
  readonly engineTests: Readonly<Record<string, readonly string[]>>
  /** Paths of everything in src/engines/. */
  readonly enginePaths: readonly string[]
  /** The names of the registered suites. */
  readonly suites: readonly string[]
  readonly listed: readonly ListedTest[]
}

/** One sentence for each engine that is unknown, and for each suite that an engine does not run. */
export function findUntestedEngines(coverage: EngineCoverage): string[] {
  const { engineTests, enginePaths } = coverage
  const known = Object.keys(engineTests)
  const folders = new Set(enginePaths.map((path) => path.split('/')[2] ?? path))
  const unknown = [...folders].filter(
    (folder) =>
      !FOUNDATIONS.includes(folder) &&
      !known.some((name) => name === folder || name.startsWith(`${folder}/`)),
  )
  const absent = known.filter(
    (name) => !enginePaths.some((path) => path.startsWith(`src/engines/${name}/`)),
  )
  return [
    ...unknown.map((name) => `src/engines/${name} is not in the list of engines`),
    ...absent.map((name) => `src/engines/${name} is in the list of engines and does not exist`),
    ...findMissingSuites(coverage),
  ]
}

function findMissingSuites({ engineTests, suites, listed }: EngineCoverage): string[] {
  const files = Object.values(engineTests)
    .flat()
    .map((name) => `test/conformance/${name}.test.ts`)
  return files.flatMap((file) => {
    const tests = listed.filter((test) => test.file.endsWith(file))
    const run = new Set(tests.map(({ name }) => name.split(' > ')[1]))
    const missing = suites.filter((suite) => !run.has(suite))
    return missing.map((suite) => `${file} does not run the suite "${suite}"`)
  })
}

/** The files that export a suite which the registry, index.ts, does not import. */
export function findUnregisteredSuites(files: readonly SourceFile[]): string[] {
  const index = files.find(({ path }) => path === `${SUITE_FOLDER}/index.ts`)
  const registered = index === undefined ? [] : listImports(index).map(({ target }) => target)
  return files
    .filter((file) => exportsSuite(file) && !registered.includes(file.path))
    .map(({ path }) => `${path} is not registered in ${SUITE_FOLDER}/index.ts`)
}

/** A suite is an exported constant that is declared as an EngineSuite. */
function exportsSuite({ path, text }: SourceFile): boolean {
  let isSuite = false
  const visitor = new Visitor({
    ExportNamedDeclaration({ declaration }) {
      if (declaration?.type !== 'VariableDeclaration') return
      for (const { id } of declaration.declarations) {
        const type = id.typeAnnotation?.typeAnnotation
        if (type?.type !== 'TSTypeReference' || type.typeName.type !== 'Identifier') continue
        isSuite ||= type.typeName.name === 'EngineSuite'
      }
    },
  })
  visitor.visit(parseSync(path, text).program)
  return isSuite
}
