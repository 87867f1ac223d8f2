/** What the checks have to know about the system that made the history. */
export interface CheckOptions {
  /** By how much the rates of two clocks may differ; 0 where all share one virtual clock. */
  readonly clockRateError?: number
  /** How long a hold outlives the broken connection of its client; 0 if it may end at once. */
  readonly sessionGraceMs?: number
  /** How long a success is remembered. */
  readonly retentionMs?: number
  /** How long at most, where a restart makes an engine count anew; `retentionMs` by default. */
  readonly retentionMsMax?: number
  /** A waiter that only asks now and then may lose its place when it is silent for this long. */
  readonly waiterSilenceMs?: number
  /** Whether the queue must outlive a mark `crash` or `restart`. */
  readonly queueSurvivesRestart?: boolean
  /** Whether an update is refused while there are references. */
  readonly updateRequiresNoRef?: boolean
  /** The budget of the search for each key. */
  readonly stepsMax?: number
  /** A run in which fewer of the operations went well is not a test. */
  readonly successRatioMin?: number
}

/** The same with every choice made. */
export type CheckSettings = Required<CheckOptions>

export function toCheckSettings(options: CheckOptions = {}): CheckSettings {
  return {
    clockRateError: 0.01,
    sessionGraceMs: 0,
    retentionMs: 300_000,
    retentionMsMax: options.retentionMs ?? 300_000,
    waiterSilenceMs: 10_000,
    queueSurvivesRestart: false,
    updateRequiresNoRef: false,
    stepsMax: 1_000_000,
    successRatioMin: 0.1,
    ...options,
  }
}
