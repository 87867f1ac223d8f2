/** The part of redlock that the bench calls; its own types are not where its `exports` say. */
declare module 'redlock' {
  import type { Redis } from 'ioredis'

  interface RedlockSettings {
    readonly retryCount?: number
    readonly retryDelay?: number
    readonly retryJitter?: number
  }

  class Redlock {
    constructor(clients: Iterable<Redis>, settings?: RedlockSettings)
    acquire(keys: string[], ttlMs: number): Promise<{ release(): Promise<unknown> }>
  }

  export { Redlock as default }
}
