/** Whatever can guard a piece of work with a key: ours and the peers, behind the thinnest layer. */
export interface Locker {
  /** Acquire the key, run, release. Waits for as long as it takes. */
  cycle(key: string, run: () => Promise<void>): Promise<unknown>
  close(): Promise<void>
}
