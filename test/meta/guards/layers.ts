import { listExportTargets, type Manifest } from './manifest.ts'
import { listImports, type ModuleImport } from './module-imports.ts'
import type { SourceFile } from './source-file.ts'

interface Layer {
  /** Other layers that this one may import from. Its own files are always allowed. */
  readonly imports: readonly string[]
  /** Layers of which it may know the types only. */
  readonly types?: readonly string[]
  /** Whether it may use Node's built-in modules. */
  readonly builtins: boolean
}

/**
 * The walls between the folders of src/: imports point one way. A layer is a file or a folder, and
 * the longest name that fits a path decides, so one file can have rights that its folder has not.
 * A folder that is not in the table may not exist.
 */
const LAYERS: Readonly<Record<string, Layer>> = {
  law: { imports: [], builtins: false },
  // Assertions are no rule of a lock: a layer that has the types of the law only may use them too.
  'law/assert.ts': { imports: [], builtins: false },
  time: { imports: [], builtins: true },
  engine: { imports: ['law', 'time'], builtins: false },
  wire: { imports: [], types: ['engine', 'law'], builtins: false },
  'engines/embedded': { imports: ['engine', 'law', 'time'], builtins: true },
  // What the journal asks of a disk, so that the test kit can simulate one.
  'engines/embedded/journal/disk.ts': { imports: [], builtins: true },
  'engines/store': { imports: ['engine', 'law', 'time'], builtins: true },
  // What the suite of key stores tests.
  'engines/store/key-store.ts': { imports: [], builtins: false },
  'engines/store/store-limits.ts': { imports: [], builtins: false },
  'engines/sql': { imports: ['engine', 'law', 'time'], builtins: true },
  'engines/redis': { imports: ['engine', 'law', 'time'], builtins: true },
  'engines/etcd': { imports: ['engine', 'law', 'time'], builtins: true },
  'engines/remote': { imports: ['engine', 'law', 'time', 'wire'], builtins: true },
  // What is built on the contract knows the words of the law and none of its rules.
  locks: { imports: ['engine', 'time', 'law/assert.ts'], types: ['law'], builtins: true },
  'locks/connect.ts': { imports: ['locks', 'engine', 'time', 'engines'], builtins: true },
  'locks/open-engine.ts': {
    imports: ['locks', 'engine', 'time', 'engines'],
    types: ['law'],
    builtins: true,
  },
  content: { imports: ['locks', 'engine', 'law', 'time'], builtins: true },
  'content/storages': {
    imports: ['content', 'locks', 'engine', 'time', 'engines'],
    builtins: true,
  },
  workflow: {
    imports: ['locks', 'engine', 'time', 'engines/sql'],
    types: ['law'],
    builtins: true,
  },
  server: { imports: ['wire', 'engine', 'law', 'time'], builtins: true },
  client: { imports: ['wire', 'locks', 'engine', 'time'], types: ['law'], builtins: true },
  console: { imports: ['wire'], builtins: false },
  cli: {
    imports: [
      'locks',
      'content',
      'workflow',
      'client',
      'server',
      'wire',
      'engines',
      'engine',
      'time',
    ],
    builtins: true,
  },
  'cli/settings': {
    imports: ['cli', 'locks', 'server', 'engine'],
    types: ['law'],
    builtins: false,
  },
  testing: {
    imports: ['law', 'engine', 'locks', 'wire', 'time', 'engines/store/store-limits.ts'],
    types: ['engines/embedded/journal/disk.ts', 'engines/store/key-store.ts'],
    builtins: true,
  },
  'index.ts': { imports: ['locks', 'engine', 'wire'], types: ['law', 'time'], builtins: false },
}

export interface LayerRules {
  readonly layers: Readonly<Record<string, Layer>>
  /** Packages that a user of ours has installed: dependencies and peer dependencies. */
  readonly packages: readonly string[]
  /** The index files of the exported sub-paths, which are for users and not for our own code. */
  readonly barrels: readonly string[]
}

export function createLayerRules(manifest: Manifest): LayerRules {
  const { dependencies = {}, peerDependencies = {} } = manifest
  const compiled = listExportTargets(manifest).filter((target) => target.endsWith('.js'))
  return {
    layers: LAYERS,
    packages: [...Object.keys(dependencies), ...Object.keys(peerDependencies)],
    barrels: compiled.map((path) => path.replace(/^dist(.*)\.js$/, 'src$1.ts')),
  }
}

/** One sentence for each import that crosses a wall. */
export function findCrossedWalls(files: readonly SourceFile[], rules: LayerRules): string[] {
  return files.flatMap((file) => {
    const layer = findLayer(file.path, rules)
    if (layer === null) return [`${file.path} is in a folder that the table of layers lacks`]
    const crossed = listImports(file).filter((found) => !isAllowed(found, layer, rules))
    return crossed.map(({ specifier, isTypeOnly }) => {
      const what = isTypeOnly ? 'the types of ' : ''
      return `${file.path} may not import ${what}${specifier}: ${layer} is not allowed to`
    })
  })
}

function isAllowed(found: ModuleImport, layer: string, rules: LayerRules): boolean {
  const { imports, types = [], builtins } = rules.layers[layer] as Layer
  if (found.target === null) {
    if (found.specifier.startsWith('node:')) return builtins
    return rules.packages.includes(toPackageName(found.specifier))
  }
  const target = findLayer(found.target, rules)
  if (target === null || rules.barrels.includes(found.target)) return false
  if (target === layer || isPartOf(target, layer)) return true
  const allowed = found.isTypeOnly ? [...imports, ...types] : imports
  return allowed.some((name) => target === name || isPartOf(target, name))
}

function findLayer(path: string, rules: LayerRules): string | null {
  const fits = Object.keys(rules.layers).filter((name) => isPartOf(path, `src/${name}`))
  return fits.sort((a, b) => b.length - a.length)[0] ?? null
}

const isPartOf = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`)

function toPackageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}
