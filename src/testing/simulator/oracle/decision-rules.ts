import type { KeyCommand } from '../../../law/model/commands.ts'
import type { KeyView } from '../../../law/model/view.ts'
import type { Effect, ShadowHold, ShadowKey, ShadowWaiter } from './shadow-key.ts'

/** One decision of the engine, as it was seen. */
export interface SeenDecision {
  readonly view: KeyView
  readonly command: KeyCommand
  readonly effects: readonly Effect[]
  readonly nowMs: number
  /** Whether a request has ended, and is still remembered for it. */
  readonly hasEnded: (owner: string, requestId: string) => boolean
}

type Report = (property: string, message: string) => void

/**
 * What a decision may do to a key, said a second time and in another way than the law says it: as rules
 * about single effects and about the state that they lead to. Applies the effects on the way.
 */
export function applyDecision(key: ShadowKey, decision: SeenDecision, report: Report): void {
  const check = new DecisionCheck(key, decision, report)
  check.first()
  for (const effect of decision.effects) {
    check.before(effect)
    key.apply(effect)
  }
  check.after()
}

class DecisionCheck {
  readonly #key: ShadowKey
  readonly #decision: SeenDecision
  readonly #report: Report
  /** Requests that are granted from the queue in this decision, and for how long. */
  readonly #fromQueue: ReadonlyMap<string, number>

  constructor(key: ShadowKey, decision: SeenDecision, report: Report) {
    this.#key = key
    this.#decision = decision
    this.#report = report
    this.#fromQueue = new Map(
      decision.effects.flatMap((effect) =>
        effect.kind === 'waiter-gone' && effect.answer === 'granted'
          ? [[nameOf(effect.waiter.owner, effect.waiter.requestId), effect.waiter.ttlMs] as const]
          : [],
      ),
    )
  }

  /** What the law is shown is not behind what it was shown before, also after a restart. */
  first(): void {
    const { token } = this.#decision.view
    if (token < this.#key.token) this.#fail('S2 fence', `token ${this.#key.token} was forgotten`)
  }

  before(effect: Effect): void {
    if (effect.kind === 'hold-set') this.#checkHold(effect.hold)
    else if (effect.kind === 'hold-ended') this.#checkEnd(effect)
    else if (effect.kind === 'waiter-gone') this.#checkLeaving(effect.waiter, effect.answer)
  }

  #fail(property: string, what: string): void {
    const { command, nowMs } = this.#decision
    const { subject } = this.#key
    this.#report(property, `${subject}: ${what} (by ${command.kind} at ${nowMs})`)
  }

  #checkHold(hold: ShadowHold): void {
    const before = this.#key.holds.get(hold.owner)
    const { nowMs } = this.#decision
    const count = (mode: string): number => hold.steps.filter((step) => step.mode === mode).length
    if (hold.reads !== count('read') || hold.writes !== count('write')) {
      this.#fail('S10 counts', `the counts of ${hold.owner} are not those of its steps`)
    }
    if (hold.steps.length === 0) this.#fail('S10 counts', `${hold.owner} holds nothing`)
    if (hold.ttlMs < hold.leaseAtMs - nowMs) {
      this.#fail('S16 durability', `a restart would shorten the lease of ${hold.owner}`)
    }
    if (hold.leaseAtMs < nowMs + this.#askedTtlMs(hold)) {
      this.#fail('S17 lease', `${hold.owner} got less time than it asked for`)
    }
    if (before === undefined) this.#checkNew(hold)
    else this.#checkChanged(before, hold)
  }

  /** The lease that the owner asks for by this very decision; 0 if it does not. */
  #askedTtlMs({ owner, steps }: ShadowHold): number {
    const { command } = this.#decision
    const queued = steps.map(({ requestId }) => this.#fromQueue.get(nameOf(owner, requestId)) ?? 0)
    const isOwn =
      ((command.kind === 'acquire' || command.kind === 'renew') && command.owner === owner) ||
      (command.kind === 'begin' && `${command.type}:${command.node}` === owner)
    const asked = isOwn ? (command.ttlMs ?? 0) : 0
    return Math.max(asked, ...queued)
  }

  #checkNew(hold: ShadowHold): void {
    const { key } = this.#key
    if (hold.token <= this.#key.token) {
      this.#fail('S2 fence', `${hold.owner} got token ${hold.token} after ${this.#key.token}`)
    }
    const needsNoReference = hold.type === 'delete' && hold.coordination === 'server'
    if (needsNoReference && this.#key.references.size > 0) {
      const nodes = [...this.#key.references].join(', ')
      this.#fail('S15 delete', `${hold.owner} may delete ${key}, which ${nodes} refer to`)
    }
    const isDirect = !hold.steps.some(({ requestId }) =>
      this.#fromQueue.has(nameOf(hold.owner, requestId)),
    )
    const ahead = isDirect ? this.#ahead() : undefined
    if (ahead !== undefined) {
      this.#fail('S11 order', `${hold.owner} passed ${ahead.owner}, which was waiting`)
    }
  }

  /** Somebody whom a newcomer may not pass: anyone, where there are no lanes. */
  #ahead(): ShadowWaiter | undefined {
    const { command, view } = this.#decision
    const { lanes } = view.settings
    if (lanes.length <= 1) return this.#key.waiters[0]
    const name = 'lane' in command ? command.lane : undefined
    const byType =
      command.kind === 'begin' && lanes.includes(command.type) ? command.type : undefined
    const lane = lanes.indexOf(name ?? byType ?? (lanes.at(-1) as string))
    return this.#key.waiters.find((waiter) => waiter.upgrade || waiter.lane <= lane)
  }

  #checkChanged(before: ShadowHold, hold: ShadowHold): void {
    const isUpgrade = before.writes === 0 && hold.writes > 0
    const isRight = isUpgrade
      ? hold.token > this.#key.token
      : hold.token === this.#tokenAfter(before, hold)
    if (!isRight) {
      const tokens = `from token ${before.token} to ${hold.token}`
      this.#fail('S2 fence', `${hold.owner} went ${tokens}${isUpgrade ? ' as it upgraded' : ''}`)
    }
    if (hold.leaseAtMs < before.leaseAtMs) {
      this.#fail('S17 lease', `the lease of ${hold.owner} was shortened`)
    }
    const isKept =
      hold.session === before.session &&
      hold.type === before.type &&
      hold.version === before.version &&
      hold.coordination === before.coordination
    if (!isKept) this.#fail('S10 counts', `the hold of ${hold.owner} became another one`)
  }

  /** It stays, unless the step with which the hold got it is undone, and nothing came after. */
  #tokenAfter(before: ShadowHold, hold: ShadowHold): number {
    const last = before.steps.at(-1)
    const isUndone =
      hold.steps.length < before.steps.length &&
      !hold.steps.some(({ requestId }) => requestId === last?.requestId)
    const token = this.#key.earlierTokens.get(hold.owner)
    const isReleased = isOwn(this.#decision.command, hold.owner)
    // What was granted after an upgrade that is undone has kept the token of that until it is undone too.
    if (isReleased && hold.writes === 0) this.#key.earlierTokens.delete(hold.owner)
    const isGivenUp =
      !isReleased &&
      hold.writes === 0 &&
      isUndoable(this.#decision.command, last === undefined ? [] : [last])
    return isUndone && isGivenUp && token !== undefined ? token : before.token
  }

  #checkEnd({ owner, end }: Extract<Effect, { kind: 'hold-ended' }>): void {
    const hold = this.#key.holds.get(owner)
    if (hold === undefined) {
      this.#fail('S22 conservation', `the hold of ${owner} ended, and there was none`)
      return
    }
    const { command, nowMs } = this.#decision
    const { steps, isRecovered } = hold
    const isLegal = {
      expired: () => this.#leaseAtMs(hold) <= nowMs,
      unclaimed: () =>
        isRecovered ||
        steps.every(({ claimByMs }) => (claimByMs ?? Infinity) <= nowMs) ||
        (isAbandoning(command) && isUndoable(command, steps)),
      cancelled: () => isRecovered || isUndoable(command, steps),
      disconnected: () => command.kind === 'leave' && this.#hasLost(command.session, hold),
      forced: () => command.kind === 'force',
      released: () => steps.length === 1 && isOwn(command, owner),
      failed: () => command.kind === 'finish' && !command.success && isOwn(command, owner),
    }[end]
    if (!isLegal()) this.#fail('S17 lease', `the hold of ${owner} ended as ${end} and must not`)
  }

  /** Its session has ended, or its streams were closed for the grace. Silence alone costs no other session a hold. */
  #hasLost(session: string, hold: ShadowHold): boolean {
    const { view, nowMs } = this.#decision
    const known = view.session(session)
    if (hold.session !== session) return false
    return !known || (!known.keepsLeases && known.heardAtMs + known.graceMs <= nowMs)
  }

  /** With what the heartbeats of its session add to it. */
  #leaseAtMs(hold: ShadowHold): number {
    const session =
      hold.session === undefined ? undefined : this.#decision.view.session(hold.session)
    if (session?.keepsLeases !== true) return hold.leaseAtMs
    return Math.max(hold.leaseAtMs, session.heardAtMs + hold.ttlMs)
  }

  #checkLeaving(waiter: ShadowWaiter, answer: string): void {
    const { nowMs } = this.#decision
    const known = this.#key.waiters.find((other) => isSame(other, waiter))
    if (known === undefined) {
      this.#fail('S22 conservation', `${waiter.owner} left the queue, and was not in it`)
      return
    }
    if (answer === 'timeout' && known.deadlineAtMs > nowMs) {
      this.#fail('S17 lease', `${waiter.owner} was answered timeout before its time`)
    }
    const { command } = this.#decision
    if (answer === 'abandoned' && known.leaseAtMs > nowMs && !isAbandoning(command)) {
      this.#fail('S17 lease', `${waiter.owner} was taken for gone before its time`)
    }
    if (answer === 'granted') this.#checkTurn(known)
  }

  /** First come, first served, except for owners that have the key already. */
  #checkTurn(waiter: ShadowWaiter): void {
    if (waiter.upgrade || this.#hadHold(waiter)) return
    const first = this.#key.waiters.find(({ lane, upgrade }) => lane === waiter.lane && !upgrade)
    if (first !== undefined && !isSame(first, waiter)) {
      this.#fail('S11 order', `${waiter.owner} was granted before ${first.owner}`)
    }
  }

  /** Its hold has more than what this grant made. */
  #hadHold({ owner }: ShadowWaiter): boolean {
    return (this.#key.holds.get(owner)?.steps.length ?? 0) > 1
  }

  after(): void {
    const { holds, waiters } = this.#key
    const writer = [...holds.values()].find(({ writes }) => writes > 0)
    if (writer !== undefined && holds.size > 1) {
      const owners = [...holds.keys()].join(', ')
      this.#fail('S1w exclusion', `${writer.owner} writes while ${owners} hold it`)
    }
    this.#checkBounds()
    if (waiters.length === 0) return
    this.#checkOwnersInQueue()
    const ghost = waiters.find((waiter) => isGivenUp(this.#decision, waiter))
    if (ghost !== undefined) this.#fail('S12 no ghost', `${ghost.owner} waits for what it gave up`)
    const upgrader = waiters.find(({ upgrade }) => upgrade)
    if (upgrader !== undefined) {
      if (holds.size < 2) this.#fail('L5 wake-up', `${upgrader.owner} could upgrade and waits`)
      return
    }
    if (holds.size === 0) {
      this.#fail('L5 wake-up', `it is free and ${waiters[0]?.owner} waits`)
    } else if (writer === undefined && this.#heads().every(({ mode }) => mode === 'read')) {
      this.#fail('L5 wake-up', `it is read, and ${waiters[0]?.owner} waits to read it`)
    }
  }

  #checkBounds(): void {
    const { holds, waiters } = this.#key
    const { holdersPerKeyMax, waitersPerKeyMax } = this.#decision.view.settings
    if (holds.size > holdersPerKeyMax) this.#fail('S10 counts', `${holds.size} owners hold it`)
    if (waiters.length > waitersPerKeyMax) this.#fail('S10 counts', `${waiters.length} wait`)
  }

  /** One holder at most waits for more than it has; every other waiter has nothing. */
  #checkOwnersInQueue(): void {
    const { holds, waiters } = this.#key
    const upgraders = new Set<string>()
    for (const { owner, upgrade } of waiters) {
      const hold = holds.get(owner)
      if (upgrade) upgraders.add(owner)
      if (upgrade && !hold?.reads) this.#fail('S10 counts', `${owner} upgrades and does not read`)
      if (!upgrade && hold) this.#fail('L5 wake-up', `${owner} waits behind itself`)
    }
    if (upgraders.size > 1) this.#fail('L5 wake-up', `${[...upgraders].join(', ')} wait to upgrade`)
  }

  #heads(): ShadowWaiter[] {
    const heads = new Map<number, ShadowWaiter>()
    for (const waiter of this.#key.waiters) {
      if (!heads.has(waiter.lane)) heads.set(waiter.lane, waiter)
    }
    return [...heads.values()]
  }
}

/** An operation keeps its place as long as one request that it stands for has not been given up. */
function isGivenUp({ command, hasEnded }: SeenDecision, waiter: ShadowWaiter): boolean {
  const { owner } = waiter
  if (command.kind !== 'cancel' || command.owner !== owner) return false
  const { requestId: meant } = command
  const requests = [waiter.requestId, ...waiter.joined]
  if (meant === undefined) return true
  return requests.every((one) => one === meant || hasEnded(owner, one))
}

/** What was taken is undone only by its owner, and by its request id. */
function isUndoable(
  command: KeyCommand,
  steps: readonly { readonly claimByMs: number | null }[],
): boolean {
  const isNamed =
    command.kind === 'cancel' && command.requestId !== undefined && command.reason !== 'abandoned'
  return isNamed || steps.every(({ claimByMs }) => claimByMs !== null)
}

/** Whoever serves the owner says that it cannot reach it. */
function isAbandoning(command: KeyCommand): boolean {
  return command.kind === 'cancel' && command.reason === 'abandoned'
}

function isOwn(command: KeyCommand, owner: string): boolean {
  if (command.kind === 'release') return command.owner === owner
  return command.kind === 'finish' && `${command.type}:${command.node}` === owner
}

function isSame(one: ShadowWaiter, other: ShadowWaiter): boolean {
  return one.owner === other.owner && one.requestId === other.requestId
}

function nameOf(owner: string, requestId: string): string {
  return JSON.stringify([owner, requestId])
}
