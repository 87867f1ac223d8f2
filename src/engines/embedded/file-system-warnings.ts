import { statfs } from 'node:fs/promises'

/** What Linux calls the kinds of file systems on which a directory does not keep what the engine promises. */
const IN_MEMORY = 'what is acknowledged is gone when the machine stops'
const ON_NETWORK = 'a server on another machine would not see that the directory is taken'
const KINDS: ReadonlyMap<number, string> = new Map([
  [0x01021994, `it is in memory (tmpfs): ${IN_MEMORY}`],
  [0x858458f6, `it is in memory (ramfs): ${IN_MEMORY}`],
  [0x6969, `it is on a network file system (NFS): ${ON_NETWORK}`],
  [0xff534d42, `it is on a network file system (CIFS): ${ON_NETWORK}`],
  [0xfe534d42, `it is on a network file system (SMB): ${ON_NETWORK}`],
])

/** What an operator should know of the file system that a data directory is on; nothing where that is fine. */
export async function fileSystemWarnings(directory: string): Promise<readonly string[]> {
  if (process.platform !== 'linux') return []
  const { type } = await statfs(directory)
  const problem = KINDS.get(type)
  return problem === undefined ? [] : [`the data directory ${directory}: ${problem}`]
}
