import type { Problems } from '../problems.ts'

interface Cell {
  value: number
  /** The highest token that was shown. */
  token: number
  writes: number
}

/**
 * What the locks protect: one counter per key, which refuses everybody who shows a smaller token than it
 * has seen. Those who hold a key read it, think, and write back one more. If the tokens are any good, no
 * such step is ever lost, whatever the holders believed.
 */
export class FencedRegister {
  readonly #problems: Problems
  readonly #cells = new Map<string, Cell>()

  constructor(problems: Problems) {
    this.#problems = problems
  }

  /** `undefined` when the token is too old. */
  read(key: string, token: number): number | undefined {
    const cell = this.#cells.get(key) ?? { value: 0, token: 0, writes: 0 }
    this.#cells.set(key, cell)
    if (token < cell.token) return undefined
    cell.token = token
    return cell.value
  }

  write(key: string, token: number, value: number): void {
    const cell = this.#cells.get(key)
    if (cell === undefined || token < cell.token) return
    cell.value = value
    cell.writes += 1
    if (cell.value === cell.writes) return
    const counts = `${cell.writes} writes were accepted, and it is ${cell.value}`
    this.#problems.add('S3 fence suffices', `lock ${key}: an update was lost: ${counts}`)
  }
}
