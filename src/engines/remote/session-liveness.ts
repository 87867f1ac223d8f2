import type { EngineSession, SessionLoss, SessionLossListener } from '../../engine/engine.ts'
import type { SessionPulse } from './session-pulse.ts'

export interface SessionTerms {
  readonly id: string
  readonly graceMs: number
  readonly heartbeatMs: number
}

/** The session as the rest of this process sees it: who vouches for it, and what was lost in it. */
export class SessionLiveness implements EngineSession {
  readonly id: string
  readonly graceMs: number
  readonly heartbeatMs: number
  readonly #pulse: SessionPulse
  readonly #listeners = new Set<SessionLossListener>()
  #vouchedAtMs: number
  #doubts = 0

  constructor(terms: SessionTerms, vouchedAtMs: number, pulse: SessionPulse) {
    this.id = terms.id
    this.graceMs = terms.graceMs
    this.heartbeatMs = terms.heartbeatMs
    this.#vouchedAtMs = vouchedAtMs
    this.#pulse = pulse
  }

  get vouchedAtMs(): number {
    return Math.max(this.#vouchedAtMs, this.#pulse.vouchedAtMs)
  }

  get isInDoubt(): boolean {
    return this.#doubts > 0
  }

  keepVouching(): void {
    this.#pulse.start()
  }

  onLoss(listener: SessionLossListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  vouch(sentAtMs: number): void {
    if (sentAtMs > this.#vouchedAtMs) this.#vouchedAtMs = sentAtMs
  }

  /**
   * Told at once, and again when everything that was answered together with it has reached its caller: a grant
   * and its loss may be read together. In between, there is doubt.
   */
  lose(loss: SessionLoss): void {
    this.#doubts += 1
    this.#tell(loss)
    // Answers reach their callers in microtasks, which come after the ticks that are due now.
    queueMicrotask(() => process.nextTick(() => this.#loseAgain(loss)))
  }

  #loseAgain(loss: SessionLoss): void {
    this.#doubts -= 1
    this.#tell(loss)
  }

  #tell(loss: SessionLoss): void {
    for (const listener of this.#listeners) listener(loss)
  }
}
