import { fileURLToPath, pathToFileURL } from 'node:url'

/**
 * The built package. What is measured is what is shipped, not what a loader makes of the sources; the
 * sources only lend their types. A process that measures an older build finds it by this variable.
 */
type HoldfastModule = typeof import('../src/index.ts')
type EmbeddedEngineModule = typeof import('../src/engines/embedded/embedded-engine.ts')
type JournalModule = typeof import('../src/engines/embedded/journal/journal.ts')
type NodeDiskModule = typeof import('../src/engines/embedded/journal/node-disk.ts')

export const BUILD_VARIABLE = 'HOLDFAST_BENCH_BUILD'

const checkout = process.env[BUILD_VARIABLE]
const ROOT =
  checkout === undefined ? new URL('../', import.meta.url) : pathToFileURL(`${checkout}/`)
const DIST = new URL('dist/', ROOT)

export const COMMAND_LINE: string = fileURLToPath(new URL('cli/main.js', DIST))

export function importHoldfast(): Promise<HoldfastModule> {
  return importBuilt('index.js')
}

export function importEmbeddedEngine(): Promise<EmbeddedEngineModule> {
  return importBuilt('engines/embedded/embedded-engine.js')
}

export async function importJournal(): Promise<JournalModule & NodeDiskModule> {
  const journal: JournalModule = await importBuilt('engines/embedded/journal/journal.js')
  const disk: NodeDiskModule = await importBuilt('engines/embedded/journal/node-disk.js')
  return { ...journal, ...disk }
}

function importBuilt<Module>(path: string): Promise<Module> {
  return import(new URL(path, DIST).href) as Promise<Module>
}
