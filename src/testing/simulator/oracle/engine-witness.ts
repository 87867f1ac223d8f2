import type { LockEngine, WatchEvent } from '../../../engine/engine.ts'
import type { InspectReply } from '../../../engine/queries.ts'
import type { KeyCommand } from '../../../law/model/commands.ts'
import type { Decision, Law } from '../../../law/decide.ts'
import type { KeyView, Session } from '../../../law/model/view.ts'
import { isHeldOpen } from '../../../engine/waits/waiting-command.ts'
import { applyDecision } from './decision-rules.ts'
import { findDifference } from './shadow-difference.ts'
import { DurabilityLedger, type Keys } from './durability-ledger.ts'
import { type LinkRequest, requestNameOf } from '../network/link-request.ts'
import { findLate } from './late-ends.ts'
import type { Problems } from '../problems.ts'
import { checkRecovered, type GrantedStep, reckonAnew } from './recovery-rules.ts'
import { describeReply, readRecovered } from './recovered-state.ts'
import { RequestMemory } from './request-memory.ts'
import { ShadowKey, subjectOf, toEffects } from './shadow-key.ts'
import type { Trace } from '../trace.ts'

interface Seen {
  readonly view: KeyView
  readonly command: KeyCommand
  readonly decision: Decision
  readonly nowMs: number
}

export interface EngineWitnessOptions {
  readonly problems: Problems
  readonly trace: Trace
  /** Told when the client of a session loses its places, and by which decision. */
  readonly onPlacesLost: (session: string, index: number) => void
  /** Told when a session ends that has anything, and by which decision. */
  readonly onSessionEnd: (session: string, index: number) => void
}

/**
 * Watches an engine from inside, through the one door by which everything is decided: it sees every
 * decision, in order, and keeps its own account of what they add up to. From that it knows whether a
 * decision was legal, whether the engine did what was decided, what must have survived a crash, and
 * whether anything ends later than it should.
 */
export class EngineWitness {
  readonly #problems: Problems
  readonly #trace: Trace
  readonly #onPlacesLost: (session: string, index: number) => void
  readonly #onSessionEnd: (session: string, index: number) => void
  /** Sessions that were said good-bye to. */
  readonly #farewells = new Set<string>()
  readonly #ledger = new DurabilityLedger()
  readonly #requests = new RequestMemory()
  #keys: Keys = new Map()
  /** The view that was decided on last; each shows every session. */
  #latest: KeyView | undefined
  /** Views that were decided on since the last step. */
  #touched = new Map<string, KeyView>()
  /** The decision by which each wait was settled. */
  readonly #settled = new Map<string, number>()
  /** Requests whose clients were told that nothing came of them, and the last decision before that. */
  readonly #denials = new Map<string, number>()
  /** The decisions whose events were not told yet, and the events. */
  #untold: { readonly index: number; readonly text: string }[] = []
  /** The decisions that each crash took back. */
  readonly #forgotten: { readonly after: number; readonly until: number }[] = []
  #life = 0
  #count = 0
  #isRecovering = true
  #clockMs: () => number = () => 0
  /** How far the clock is ahead of the time that the engine decides by. */
  #aheadMs = 0

  constructor(options: EngineWitnessOptions) {
    this.#problems = options.problems
    this.#trace = options.trace
    this.#onPlacesLost = options.onPlacesLost
    this.#onSessionEnd = options.onSessionEnd
  }

  /** How many decisions were made. */
  get count(): number {
    return this.#count
  }

  /** Whether a decision was lost in a crash, so that it never counted. */
  isForgotten(index: number): boolean {
    return this.#forgotten.some(({ after, until }) => after < index && index <= until)
  }

  beginLife(clockMs: () => number): void {
    this.#life += 1
    this.#clockMs = clockMs
    this.#aheadMs = clockMs()
    this.#isRecovering = true
    this.#untold = []
    this.#touched.clear()
    this.#latest = undefined
    this.#settled.clear()
  }

  observe(law: Law): Law {
    const life = this.#life
    return (view, command, nowMs) => {
      const decision = law(view, command, nowMs)
      if (life === this.#life && !this.#isRecovering) {
        this.#see({ view, command, decision, nowMs })
      }
      return decision
    }
  }

  #see({ view, command, decision, nowMs }: Seen): void {
    this.#count += 1
    const index = this.#count
    this.#aheadMs = Math.floor(this.#clockMs()) - nowMs
    const key = this.#keyOf(view)
    const effects = toEffects(decision.changes)
    this.#touched.set(key.subject, view)
    this.#latest = view
    for (const effect of effects) {
      const twice = this.#requests.see(key, effect, { index, nowMs })
      if (twice !== undefined) this.#fail('S6 at most once', `${key.subject}: ${twice} holds again`)
      if (effect.kind === 'waiter-gone') this.#settle(key, effect.waiter, index)
    }
    const moment = { index, nowMs }
    const hasEnded = (owner: string, requestId: string): boolean =>
      this.#requests.hasEnded(key, { owner, requestId }, moment)
    applyDecision(key, { view, command, effects, nowMs, hasEnded }, (property, message) =>
      this.#fail(property, message),
    )
    this.#seeJoining(key, command, decision)
    this.#ledger.add({ index, key, effects })
    for (const event of decision.events) {
      this.#untold.push({ index, text: describeEvent(event) })
    }
    if (command.kind === 'leave') this.#leave(view, command.session, nowMs)
    if (effects.length === 0) return
    const what = effects.map(({ kind }) => kind).join(' ')
    this.#trace.note('law', `${index} ${key.subject} ${command.kind}: ${what}`)
  }

  /** A node has one standing whatever the id it asks under; the id is answered for by that from now on. */
  #seeJoining(key: ShadowKey, command: KeyCommand, { outcome }: Decision): void {
    if (command.kind !== 'begin' || command.requestId === undefined) return
    if (outcome.kind !== 'granted' && outcome.kind !== 'queued') return
    const { requestId } = command
    const owner = `${command.type}:${command.node}`
    const steps = key.holds.get(owner)?.steps ?? []
    const standings = [...steps, ...key.waiters.filter((waiter) => waiter.owner === owner)]
    const isOwn = standings.some((standing) => standing.requestId === requestId)
    if (!isOwn) this.#requests.join(key, owner, requestId)
  }

  /** A session ends by its client's word; silence for the grace ends places, and stream sessions. */
  #leave(view: KeyView, id: string, nowMs: number): void {
    const session = view.session(id)
    const isSilent = session !== undefined && session.heardAtMs + session.graceMs <= nowMs
    if (session === undefined ? !this.#farewells.has(id) : !isSilent) {
      this.#fail('S17 lease', `session ${id} was left although it was heard of`)
    }
    if (session?.keepsLeases === true) this.#onPlacesLost(id, this.#count)
    else this.#onSessionEnd(id, this.#count)
  }

  /** The client of a session is about to end it. */
  expectFarewell(session: string): void {
    this.#farewells.add(session)
  }

  #settle(key: ShadowKey, waiter: { owner: string; requestId: string }, index: number): void {
    this.#settled.set(`${key.subject} ${waiter.owner} ${waiter.requestId}`, index)
  }

  #keyOf({ namespace, key }: KeyView): ShadowKey {
    const subject = subjectOf(namespace, key)
    let known = this.#keys.get(subject)
    if (known === undefined) {
      known = new ShadowKey(namespace, key)
      this.#keys.set(subject, known)
    }
    return known
  }

  /**
   * Somebody was answered: everything that was decided when it asked must survive from now on, and so
   * must that by which its wait was settled.
   */
  acknowledge(request: LinkRequest, until: number, value: unknown): void {
    const isWait = request.kind === 'command' && isHeldOpen(request.command)
    const isSettled = isWait && (value as { kind: string }).kind !== 'queued'
    const settled = isSettled ? this.#settled.get(requestNameOf(request.command)) : undefined
    this.#ledger.acknowledge(Math.max(until, settled ?? 0))
  }

  /** What reading this must show, if it is a key: the state at the time when it is asked. */
  expectReading(request: LinkRequest): (reply: unknown) => void {
    if (request.kind === 'command' || request.query.kind !== 'inspect') return () => {}
    const { key, namespace = 'lock' } = request.query
    const subject = subjectOf(namespace, key)
    const known = this.#keys.get(subject) ?? new ShadowKey(namespace, key)
    const expected = `${known.describe()} ${known.waiters.length}`
    return (reply) => {
      const seen = reply as InspectReply
      const shown = `${describeReply(seen)} ${seen.queueLength}`
      if (shown === expected) return
      this.#fail('S18 reads', `${subject} was shown as ${shown} instead of ${expected}`)
    }
  }

  /** Somebody was told that nothing came of a request; what was granted before is not meant. */
  denied(request: LinkRequest, from: number): void {
    if (request.kind !== 'command' || request.command.kind !== 'acquire') return
    this.#denials.set(requestNameOf(request.command), from)
  }

  readonly #isDenied = ({ subject, owner, requestId }: GrantedStep): boolean => {
    const from = this.#denials.get(`${subject} ${owner} ${requestId}`)
    return from !== undefined && this.#requests.grantedAt(subject, owner, requestId) > from
  }

  /** Watchers are told in order, leaving nothing out, and only of what is durable. */
  told(event: WatchEvent): void {
    const next = this.#untold.shift()
    const text = event.kind === 'reset' ? 'reset' : describeEvent(event)
    if (text !== next?.text) {
      this.#fail('S19 events', `a watcher was told ${text} instead of ${next?.text}`)
    }
    if (next !== undefined) this.#ledger.acknowledge(next.index)
  }

  /** It was closed as it should be, so everything is on its disk. */
  closed(isSound: boolean): void {
    if (isSound) this.#ledger.acknowledge(this.#count)
  }

  /** What a new life found must be what was acknowledged, and perhaps a little more. */
  async checkRecovered(engine: LockEngine): Promise<void> {
    // The time of an engine stands still while it reads what there is.
    this.#aheadMs = this.#clockMs() - this.#aheadMs
    const recovered = await readRecovered(engine, this.#ledger.known())
    const found = this.#ledger.find(recovered.texts)
    if (found === undefined) {
      const difference = this.#ledger.describeDifference(recovered.texts)
      this.#fail('S16 durability', `what came back was never there: ${difference}`)
      return
    }
    const keys = found.keys.values()
    for (const { property, message } of checkRecovered([...keys], recovered, this.#isDenied)) {
      this.#fail(property, message)
    }
    this.#denials.clear()
    this.#forgotten.push({ after: found.index, until: this.#count })
    reckonAnew(found.keys.values(), recovered, this.#nowMs())
    this.#ledger.restart(found.keys)
    this.#requests.restart({ index: found.index, nowMs: this.#nowMs() })
    this.#keys = new Map([...found.keys].map(([name, key]) => [name, key.copyDurable()]))
    this.#isRecovering = false
  }

  #nowMs(): number {
    return Math.floor(this.#clockMs() - this.#aheadMs)
  }

  /** After every step: the engine has what was decided, and nothing is over that still stands. */
  checkStep(isOnTime: boolean): void {
    for (const [subject, view] of this.#touched) {
      const difference = findDifference(view, this.#keys.get(subject) as ShadowKey)
      if (difference !== undefined) this.#fail('S22 conservation', difference)
    }
    this.#touched.clear()
    if (!isOnTime || this.#isRecovering) return
    const sessionOf = (id: string): Session | undefined => this.#latest?.session(id)
    const late = findLate(this.#keys.values(), { nowMs: this.#nowMs(), sessionOf })
    if (late !== undefined) this.#fail('L3 expiry', late)
  }

  #fail(property: string, message: string): void {
    this.#problems.add(property, message)
  }
}

function describeEvent(event: {
  readonly kind: string
  readonly key: string
  readonly owner: string
}): string {
  return `${event.kind} ${event.key} ${event.owner}`
}
