import type { Disk } from '../engines/embedded/journal/disk.ts'
import type { Random } from './random.ts'
import { SimulatedDirectory } from './simulated-directory.ts'
import { SimulatedFile } from './simulated-file.ts'
import {
  type DiskOperationKind,
  type DiskStep,
  SimulatedMount,
  findFile,
  systemError,
} from './simulated-mount.ts'

/** One step of a disk. A `synced` write is two: a `write` and a `sync`. */
export interface DiskOperation {
  /** Counted from 1 over the life of the disk, reads included. */
  readonly index: number
  readonly kind: DiskOperationKind
  /** The file concerned, or null for the directory. */
  readonly file: string | null
}

/**
 * `crash`: the power goes in the middle of the operation. `error`: it fails with this code, having
 * had any part of its effect where that can be: a write may be cut short, and what a failed sync
 * did not bring to the platter never gets there.
 */
export type DiskFault =
  | { readonly kind: 'crash' }
  | { readonly kind: 'error'; readonly code: 'ENOSPC' | 'EIO' }

export interface SimulatedDiskOptions {
  /** Decides what survives a crash or a fault. */
  readonly random: Random
  /** Completes an operation later, in the order of the calls. Default `queueMicrotask`. */
  readonly defer?: (run: () => void) => void
  /** Called before each operation; what it returns goes wrong with it. */
  readonly fault?: (operation: DiskOperation) => DiskFault | undefined
}

/**
 * A disk in memory that forgets like a real one. Each process gets a `mount()` of its own, which is
 * the `Disk`; when the process is killed or the power goes, calls of earlier mounts are never
 * answered again, and the next process mounts anew. The same seed and the same calls give the same
 * answers.
 */
export class SimulatedDisk {
  readonly #options: SimulatedDiskOptions
  readonly #directory = new SimulatedDirectory()
  #life = 0
  #operations = 0
  #syncs = 0
  #crashes = 0

  constructor(options: SimulatedDiskOptions) {
    this.#options = options
  }

  get operations(): number {
    return this.#operations
  }

  /** How many times a file was synced. */
  get syncs(): number {
    return this.#syncs
  }

  get crashes(): number {
    return this.#crashes
  }

  /** The directory, for one process. */
  mount(): Disk {
    const life = this.#life
    return new SimulatedMount(this.#directory, (step) => this.#run(life, step))
  }

  /** The process is killed: what is visible stays, and stays unsynced. */
  kill(): void {
    this.#life++
  }

  /** The power goes: what was not synced is kept, lost or torn, as the seed decides. */
  crash(): void {
    this.#life++
    this.#crashes++
    this.#directory.losePower(this.#options.random)
  }

  /** The visible names, sorted. */
  names(): string[] {
    return this.#directory.names()
  }

  /** What a program would read from a file now. */
  contents(name: string): Buffer {
    return findFile(this.#directory, name).contents()
  }

  /** Puts a file there, durably. */
  put(name: string, bytes: Uint8Array): void {
    const file = new SimulatedFile()
    file.write(bytes, 0)
    file.sync()
    this.#directory.link(name, file)
    this.#directory.sync()
  }

  #run<Result>(life: number, step: DiskStep<Result>): Promise<Result> {
    const defer = this.#options.defer ?? queueMicrotask
    return new Promise((resolve, reject) => {
      defer(() => {
        if (life !== this.#life) return
        const { kind, file, effect } = step
        const fault = this.#options.fault?.({ index: ++this.#operations, kind, file })
        if (kind === 'sync') this.#syncs++
        try {
          if (fault === undefined) resolve(effect())
          else this.#goWrong(fault, step)
        } catch (error) {
          reject(error as Error)
        }
      })
    })
  }

  #goWrong(fault: DiskFault, step: DiskStep<unknown>): void {
    if (fault.kind === 'error') {
      step.partialEffect?.(this.#options.random)
      throw systemError(fault.code, step)
    }
    // A sync that does not come to its end has the effect of a crash without it.
    if (step.kind !== 'sync' && step.kind !== 'sync-directory') step.effect()
    this.crash()
  }
}
