/** Whatever can guard a piece of work with a key: ours and the peers, behind the thinnest layer. */
export interface Locker {
  readonly cycle: Cycle
  /** CPU time of the server so far, where it has one of its own; NaN where the system does not tell. */
  readonly serverCpuMs?: () => number
  close(): Promise<void>
}

/** Acquire the key, run, release. Waits for as long as it takes. */
export type Cycle = (key: string, run: () => Promise<void>) => Promise<unknown>

/** Those who compete, by name; each is opened in a process of its own. */
export type Lockers = Readonly<Record<string, () => Promise<Locker>>>

/** The lease of every peer that has one; ours has the same by default. */
export const TTL_MS = 30_000
