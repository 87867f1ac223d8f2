import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const COMPILER = 'cc'
const SOURCE = fileURLToPath(new URL('clock-shim.c', import.meta.url))

/** Whether there is what `MovedClock` needs: the dynamic linker of Linux, and a compiler. */
export function canMoveClocks(): boolean {
  try {
    execFileSync(COMPILER, ['--version'], { stdio: 'ignore' })
    return process.platform === 'linux'
  } catch {
    return false
  }
}

/** The time of day of those programs that are started with its environment. */
export class MovedClock {
  readonly environment: Readonly<Record<string, string>>
  readonly #directory = mkdtempSync(join(tmpdir(), 'holdfast-clock-'))
  readonly #file = join(this.#directory, 'offset')

  constructor() {
    const library = join(this.#directory, 'clock-shim.so')
    execFileSync(COMPILER, ['-shared', '-fPIC', '-O1', '-o', library, SOURCE, '-ldl'])
    // A server may run as somebody else.
    chmodSync(this.#directory, 0o755)
    this.moveTo(0)
    this.environment = { LD_PRELOAD: library, CLOCK_SHIM_FILE: this.#file }
  }

  /** So much later than it is, or earlier. Nobody sees half a number. */
  moveTo(offsetMs: number): void {
    const next = `${this.#file}.next`
    writeFileSync(next, String(offsetMs), { mode: 0o644 })
    renameSync(next, this.#file)
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true })
  }
}
