import { fdatasync, write } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

import type { DiskFile } from './disk.ts'

/**
 * A file of the real file system. Writing and syncing, which every append waits for, go through the
 * callback interface; it is quicker than the one with promises.
 */
export class NodeDiskFile implements DiskFile {
  readonly #handle: FileHandle
  readonly #mustSync: boolean

  /** With `mustSync`, a sync follows each write, because the file was not opened to do so itself. */
  constructor(handle: FileHandle, mustSync: boolean) {
    this.#handle = handle
    this.#mustSync = mustSync
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    let done = 0
    while (done < into.length) {
      const rest = { offset: done, length: into.length - done, position: position + done }
      const { bytesRead } = await this.#handle.read(into, rest)
      if (bytesRead === 0) break
      done += bytesRead
    }
    return done
  }

  write(bytes: Uint8Array, position: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null): void => (error ? reject(error) : resolve())
      this.#writeFrom(bytes, { done: 0, position }, (error) => {
        if (error || !this.#mustSync) settle(error)
        else fdatasync(this.#handle.fd, settle)
      })
    })
  }

  sync(): Promise<void> {
    return this.#handle.datasync()
  }

  truncate(size: number): Promise<void> {
    return this.#handle.truncate(size)
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  /** The system may write less than it was given, and then has to be asked again. */
  #writeFrom(
    bytes: Uint8Array,
    progress: { readonly done: number; readonly position: number },
    callback: (error: Error | null) => void,
  ): void {
    const { done, position } = progress
    write(this.#handle.fd, bytes, done, bytes.length - done, position + done, (error, written) => {
      if (error || done + written === bytes.length) callback(error)
      else this.#writeFrom(bytes, { done: done + written, position }, callback)
    })
  }
}
