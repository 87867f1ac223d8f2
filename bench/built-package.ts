/**
 * Internals of the built package that it does not export. What is measured is what is shipped, not what
 * a loader makes of the sources; the sources only lend their types.
 */
type EmbeddedEngineModule = typeof import('../src/engines/embedded/embedded-engine.ts')
type JournalModule = typeof import('../src/engines/embedded/journal/journal.ts')
type NodeDiskModule = typeof import('../src/engines/embedded/journal/node-disk.ts')

const EMBEDDED = new URL('../dist/engines/embedded/', import.meta.url)

export function importEmbeddedEngine(): Promise<EmbeddedEngineModule> {
  return importBuilt('embedded-engine.js')
}

export async function importJournal(): Promise<JournalModule & NodeDiskModule> {
  const journal: JournalModule = await importBuilt('journal/journal.js')
  const disk: NodeDiskModule = await importBuilt('journal/node-disk.js')
  return { ...journal, ...disk }
}

function importBuilt<Module>(path: string): Promise<Module> {
  return import(new URL(path, EMBEDDED).href) as Promise<Module>
}
