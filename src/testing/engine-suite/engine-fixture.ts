import type { LockEngine } from '../../engine/engine.ts'
import type { LawSettings } from '../../law/model/settings.ts'

/** What the suite needs to know about an engine in order to test it. */
export interface EngineFixture {
  /** Shown in the titles. */
  readonly name: string

  /** A fresh and empty engine with these settings; every other one has its default. */
  open(options?: OpenEngineOptions): Promise<OpenedEngine>

  /**
   * Absent where the engine runs on a virtual clock, which stands still until `advance` moves it.
   * There every statement about time is exact; on a real clock it is an inequality.
   */
  readonly realTime?: RealTime

  /**
   * How many real milliseconds a test waits for what has to happen without time passing, before it
   * says that it did not happen.
   */
  readonly patienceMs?: number

  readonly histories?: HistoryDose

  /** Tests that this engine is known to fail. One that passes all the same is an error. */
  readonly exceptions?: readonly EngineException[]
}

export interface OpenEngineOptions {
  readonly settings?: Partial<LawSettings>
}

export interface RealTime {
  /** The tests speak of leases of ten seconds; this many times as long are they on this engine. */
  readonly scale: number
  /** How much later than asked something may be seen to happen on a busy machine. */
  readonly slackMs: number
}

/** How much the engine is put through concurrent histories. */
export interface HistoryDose {
  /** How many of each kind; three by default. */
  readonly rounds?: number
  /** Only the history of this seed, as a failure named it. */
  readonly seed?: string
}

export interface EngineException {
  /** The title of the test, or `suite: title` where two suites have the same one. */
  readonly test: string
  readonly reason: string
}

export interface OpenedEngine {
  readonly engine: LockEngine

  /** The engine's clock where it is a virtual one. It goes on through restarts. */
  readonly clock?: { nowMs(): number }

  /** Let this much time pass on the engine's clock. Resolves when it has. */
  advance(ms: number): Promise<void>

  /** Close the engine and open the same store again. Every durable engine has this. */
  reopen?(): Promise<LockEngine>

  /** Abandon the engine as a killed process does, and open its store. Every durable engine has this. */
  crash?(): Promise<LockEngine>

  /** Another engine on the same store. Every shared engine has this. */
  second?(): Promise<LockEngine>

  /** Close every engine that was opened, and remove what was stored. */
  close(): Promise<void>
}
