/** What a locker on a database may be told. */
export interface SqlLockerOptions {
  readonly connections: number
  /** How long a waiter waits before it asks again; the default of its library otherwise. */
  readonly retryMs?: number
}
