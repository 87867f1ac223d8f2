import type { LockEngine, WatchEvent, WatchListener } from '../../../src/engine/engine.ts'

/** An engine that others share, as far as anybody can tell, and that tells of its changes when it is told to. */
export interface LateEngine extends LockEngine {
  /** Tell the oldest so many of the events that were not told yet; all when absent. */
  tell(count?: number): void
  /** Forget them, and say so. */
  lose(): void
}

export function createLateEngine(engine: LockEngine): LateEngine {
  const untold: (() => void)[] = []
  const listeners = new Set<WatchListener>()
  return {
    capabilities: { ...engine.capabilities, shared: true },
    apply: (command, options) => engine.apply(command, options),
    read: (query) => engine.read(query),
    watch: (filter, listener) => {
      listeners.add(listener)
      return engine.watch(filter, (event) => untold.push(() => listener(event)))
    },
    close: () => engine.close(),
    [Symbol.asyncDispose]: () => engine.close(),
    tell: (count = untold.length) => {
      for (const tell of untold.splice(0, count)) tell()
    },
    lose: () => {
      untold.length = 0
      const reset: WatchEvent = { kind: 'reset', id: 0, atMs: 0 }
      for (const listener of listeners) listener(reset)
    },
  }
}
