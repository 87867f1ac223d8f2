/**
 * What was decided but is not on stable storage yet. Nobody may be told of it, and nothing may be done
 * that rests on it, before `durable` resolves. If that rejects, with a `LockError`, the error is the answer.
 */
export class EarlyOutcome<Outcome> {
  readonly outcome: Outcome
  /** The same promise for all that wait for the same write. A rejection that nobody hears is dropped. */
  readonly durable: Promise<void>

  constructor(outcome: Outcome, durable: Promise<void>) {
    this.outcome = outcome
    this.durable = durable
  }
}

/** An answer that may be told: of what is early, a promise. */
export function whenDurable<Outcome>(
  answer: Outcome | EarlyOutcome<Outcome> | Promise<Outcome>,
): Outcome | Promise<Outcome> {
  if (!(answer instanceof EarlyOutcome)) return answer
  const { outcome, durable } = answer
  return durable.then(() => outcome)
}
