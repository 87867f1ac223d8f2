/** Whatever can guard a piece of work with a key: ours and the peers, behind the thinnest layer. */
export interface Locker {
  readonly cycle: Cycle
  close(): Promise<void>
}

/** Acquire the key, run, release. Waits for as long as it takes. */
export type Cycle = (key: string, run: () => Promise<void>) => Promise<unknown>
