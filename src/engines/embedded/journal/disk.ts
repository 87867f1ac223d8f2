/**
 * The only door of the journal to a file system. One `Disk` is one flat directory; names are plain
 * file names in it. `NodeDisk` is the real one, `SimulatedDisk` in `testing/` the one that forgets.
 *
 * Two promises are kept apart everywhere, because file systems keep them apart:
 *
 * - **Visible**: once a call has resolved, later calls see what it did, and so does another process
 *   that opens the directory after this one was killed.
 * - **Durable**: it is still there after the power was lost. Bytes become durable by `sync` of
 *   their file; which names exist, and to what they point, becomes durable by `syncDirectory`.
 *
 * What is visible but not durable may, after a loss of power, be there, be missing, or be there in
 * part: any sector of a write, any of several renames and removals, in any combination.
 *
 * One more thing is assumed of the hardware: overwriting a part of a sector does not harm the rest
 * of it.
 *
 * Calls reject with the system's error, which carries a `code` such as `ENOSPC`. After a failed
 * call its effect is undefined between nothing and all of it, and after a failed `sync` the bytes
 * concerned may never become durable, not even by a later `sync` that succeeds.
 */
export interface Disk {
  /** The names in the directory, in no particular order. */
  list(): Promise<string[]>

  /** Makes a new, empty file; rejects with `EEXIST` when the name is taken. */
  create(name: string, mode: WriteMode): Promise<DiskFile>

  /** Opens a file for reading and writing; rejects with `ENOENT` when there is none. */
  open(name: string, mode: WriteMode): Promise<DiskFile>

  /** Gives a file another name, atomically taking the place of a file that has it. */
  rename(from: string, to: string): Promise<void>

  /** Removes a name. A name that does not exist is no error. */
  remove(name: string): Promise<void>

  /** Makes every `create`, `rename` and `remove` so far durable. */
  syncDirectory(): Promise<void>
}

/**
 * With `synced`, a write is durable when it resolves, as if `sync` had followed it, at the smallest
 * number of calls that the system allows. With `buffered`, it waits for `sync`.
 */
export type WriteMode = 'buffered' | 'synced'

/** An open file. Whoever opened it closes it, and makes no call after that. */
export interface DiskFile {
  size(): Promise<number>

  /** Fills `into` from `position` and resolves with the bytes read, fewer only at the end. */
  read(into: Uint8Array, position: number): Promise<number>

  /**
   * Writes all the bytes at `position`, making the file longer where needed. The bytes must not
   * change until it resolves. A gap before `position` reads as zeros.
   */
  write(bytes: Uint8Array, position: number): Promise<void>

  /** Makes all writes and truncations of this file so far durable. */
  sync(): Promise<void>

  /** Cuts the file down to `size` bytes. */
  truncate(size: number): Promise<void>

  close(): Promise<void>
}
