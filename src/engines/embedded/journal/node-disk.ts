import { constants } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

import type { Disk, DiskFile, WriteMode } from './disk.ts'
import { NodeDiskFile } from './node-disk-file.ts'

/**
 * On Linux a file can be opened so that a write returns only when it is durable: one trip through
 * the thread pool instead of two. Elsewhere a sync follows each write.
 */
const SYNC_FLAG = process.platform === 'linux' ? constants.O_DSYNC : 0

/** Windows cannot sync a directory. */
const CAN_SYNC_DIRECTORY = process.platform !== 'win32'

/** What is stored may name people and machines: it is for the owner's eyes only. */
const FILE_PERMISSIONS = 0o600
const DIRECTORY_PERMISSIONS = 0o700

/** A directory of the real file system. */
export class NodeDisk implements Disk {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** Makes the directory if it does not exist, with its parents, durably. */
  static async open(directory: string): Promise<NodeDisk> {
    const path = resolve(directory)
    await makeDirectory(path)
    return new NodeDisk(path)
  }

  list(): Promise<string[]> {
    return readdir(this.#directory)
  }

  create(name: string, mode: WriteMode): Promise<DiskFile> {
    return this.#open(name, mode, constants.O_CREAT | constants.O_EXCL)
  }

  open(name: string, mode: WriteMode): Promise<DiskFile> {
    return this.#open(name, mode, 0)
  }

  rename(from: string, to: string): Promise<void> {
    return rename(join(this.#directory, from), join(this.#directory, to))
  }

  remove(name: string): Promise<void> {
    return rm(join(this.#directory, name), { force: true })
  }

  syncDirectory(): Promise<void> {
    return syncDirectory(this.#directory)
  }

  async #open(name: string, mode: WriteMode, extraFlags: number): Promise<DiskFile> {
    const syncFlag = mode === 'synced' ? SYNC_FLAG : 0
    const flags = constants.O_RDWR | extraFlags | syncFlag
    const handle = await open(join(this.#directory, name), flags, FILE_PERMISSIONS)
    return new NodeDiskFile(handle, mode === 'synced' && syncFlag === 0)
  }
}

/** Node's own way to make the parents too has no end where the system says that there is no such place. */
async function makeDirectory(path: string): Promise<void> {
  if (await isDirectory(path)) return
  const parent = dirname(path)
  if (parent !== path) await makeDirectory(parent)
  try {
    await mkdir(path, { mode: DIRECTORY_PERMISSIONS })
  } catch (error) {
    // Another process may have made it in between.
    if (!(await isDirectory(path))) throw error
  }
  await syncDirectory(parent)
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

async function syncDirectory(path: string): Promise<void> {
  if (!CAN_SYNC_DIRECTORY) return
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
