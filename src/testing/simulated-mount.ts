import type { Disk, DiskFile, WriteMode } from '../engines/embedded/journal/disk.ts'
import type { Random } from './random.ts'
import type { SimulatedDirectory } from './simulated-directory.ts'
import { SimulatedFile } from './simulated-file.ts'

export type DiskOperationKind =
  | 'list'
  | 'create'
  | 'open'
  | 'rename'
  | 'remove'
  | 'sync-directory'
  | 'size'
  | 'read'
  | 'write'
  | 'sync'
  | 'truncate'

/** One operation, with what it does. */
export interface DiskStep<Result> {
  readonly kind: DiskOperationKind
  readonly file: string | null
  readonly effect: () => Result
  /** What may have happened when the step fails; nothing by default. */
  readonly partialEffect?: (random: Random) => void
}

export function systemError(code: string, step: { kind: string; file: string | null }): Error {
  const message = `${code}: simulated, ${step.kind} '${step.file ?? '.'}'`
  return Object.assign(new Error(message), { code, syscall: step.kind })
}

export function findFile(directory: SimulatedDirectory, name: string): SimulatedFile {
  const file = directory.find(name)
  if (file === undefined) throw systemError('ENOENT', { kind: 'open', file: name })
  return file
}

type Run = <Result>(step: DiskStep<Result>) => Promise<Result>

/** The directory as one process has it. Every call goes through `run`, which may do otherwise. */
export class SimulatedMount implements Disk {
  readonly #directory: SimulatedDirectory
  readonly #run: Run

  constructor(directory: SimulatedDirectory, run: Run) {
    this.#directory = directory
    this.#run = run
  }

  list(): Promise<string[]> {
    return this.#run({ kind: 'list', file: null, effect: () => this.#directory.names() })
  }

  create(name: string, mode: WriteMode): Promise<DiskFile> {
    const effect = (): DiskFile => {
      const isTaken = this.#directory.find(name) !== undefined
      if (isTaken) throw systemError('EEXIST', { kind: 'create', file: name })
      const file = new SimulatedFile()
      this.#directory.link(name, file)
      return new Handle(file, this.#runOn(name), mode)
    }
    return this.#run({ kind: 'create', file: name, effect })
  }

  open(name: string, mode: WriteMode): Promise<DiskFile> {
    const effect = (): DiskFile =>
      new Handle(findFile(this.#directory, name), this.#runOn(name), mode)
    return this.#run({ kind: 'open', file: name, effect })
  }

  rename(from: string, to: string): Promise<void> {
    const effect = (): void => this.#directory.rename(from, to, findFile(this.#directory, from))
    return this.#run({ kind: 'rename', file: from, effect })
  }

  remove(name: string): Promise<void> {
    const effect = (): void => {
      if (this.#directory.find(name) !== undefined) this.#directory.unlink(name)
    }
    return this.#run({ kind: 'remove', file: name, effect })
  }

  syncDirectory(): Promise<void> {
    return this.#run({ kind: 'sync-directory', file: null, effect: () => this.#directory.sync() })
  }

  #runOn(file: string): RunOnFile {
    return (step) => this.#run({ ...step, file })
  }
}

type RunOnFile = <Result>(step: Omit<DiskStep<Result>, 'file'>) => Promise<Result>

class Handle implements DiskFile {
  readonly #file: SimulatedFile
  readonly #run: RunOnFile
  readonly #mode: WriteMode

  constructor(file: SimulatedFile, run: RunOnFile, mode: WriteMode) {
    this.#file = file
    this.#run = run
    this.#mode = mode
  }

  size(): Promise<number> {
    return this.#run({ kind: 'size', effect: () => this.#file.size })
  }

  read(into: Uint8Array, position: number): Promise<number> {
    const effect = (): number => {
      const bytes = this.#file.read(position, into.length)
      into.set(bytes)
      return bytes.length
    }
    return this.#run({ kind: 'read', effect })
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    await this.#run({
      kind: 'write',
      effect: () => this.#file.write(bytes, position),
      partialEffect: (random) => {
        this.#file.write(bytes.subarray(0, random.int(0, bytes.length)), position)
      },
    })
    if (this.#mode === 'synced') await this.sync()
  }

  sync(): Promise<void> {
    return this.#run({
      kind: 'sync',
      effect: () => this.#file.sync(),
      partialEffect: (random) => this.#file.failSync(random),
    })
  }

  truncate(size: number): Promise<void> {
    return this.#run({ kind: 'truncate', effect: () => this.#file.truncate(size) })
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
