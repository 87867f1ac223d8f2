import type { Clock } from '../../src/time/clock.ts'

export type Mode = 'read' | 'write'

export interface ToyGrant {
  readonly token: number
  readonly reads: number
  readonly writes: number
}

export type ToyAnswer =
  | ({ readonly kind: 'granted' } & ToyGrant)
  | { readonly kind: 'refused'; readonly code: string }

export interface ToyAcquire {
  readonly owner: string
  readonly reqId: string
  readonly mode: Mode
  readonly ttlMs: number
  readonly waitMs: number
}

/** One way for the toy to be wrong. */
export type LockBug =
  | 'two writers'
  | 'a token used again'
  | 'a token going back'
  | 'a lease cut short'
  | 'a reader passing a waiting writer'
  | 'last come, first served'
  | 'a retry counted again'
  | 'a late grant after a time-out'
  | 'a new token on re-entry'
  | 'the old token after an upgrade'
  | 'an upgrade beside readers'
  | 'a downgrade that lets go'
  | 'a renewal that revives'
  | 'a release by anybody'
  | 'busy although free'
  | 'a hold that vanishes'

export interface ToyHold {
  reads: number
  writes: number
  token: number
  leaseUntil: number
}

export interface ToyWaiter extends ToyAcquire {
  resolve(answer: ToyAnswer): void
}

/** A small, naive lock that obeys the law, or breaks it in one chosen way. */
export class ToyLock {
  readonly holds: Map<string, ToyHold> = new Map()
  readonly queue: ToyWaiter[] = []
  readonly #clock: Clock
  readonly #bug: LockBug | null
  readonly #answers = new Map<string, Promise<ToyAnswer>>()
  readonly #left = new Map<string, string>()
  #token = 0
  #calls = 0

  constructor(clock: Clock, bug: LockBug | null) {
    this.#clock = clock
    this.#bug = bug
  }

  acquire(request: ToyAcquire, onQueued: () => void): Promise<ToyAnswer> {
    this.#expire()
    const name = `${request.owner} ${request.reqId}`
    const known = this.#answers.get(name)
    if (known !== undefined && this.#bug !== 'a retry counted again') return known
    const answer = this.#decide(request, onQueued)
    this.#answers.set(name, answer)
    return answer
  }

  release(owner: string, mode: Mode, reqId: string): string {
    this.#expire()
    const name = `${owner} ${reqId}`
    const known = this.#left.get(name)
    if (known !== undefined) return known
    const target = this.#has('a release by anybody') ? this.#anyOwner(owner) : owner
    const code = this.#leave(target, mode)
    this.#left.set(name, code)
    this.#advance()
    return code
  }

  renew(owner: string, ttlMs: number): string {
    this.#expire()
    const hold = this.holds.get(owner)
    if (hold === undefined && this.#bug !== 'a renewal that revives') return 'not_holder'
    this.#extend(hold ?? { reads: 0, writes: 1, token: this.#token, leaseUntil: 0 }, ttlMs)
    return 'ok'
  }

  cancel(owner: string, reqId: string): void {
    this.#leaveQueue((waiter) => waiter.owner === owner && waiter.reqId === reqId, 'cancelled')
  }

  #decide(request: ToyAcquire, onQueued: () => void): Promise<ToyAnswer> {
    const { owner, mode, waitMs } = request
    const isReentry = this.#isReentry(owner, mode)
    const passes = this.#bug === 'a reader passing a waiting writer' && mode === 'read'
    const isNext = this.queue.length === 0 || this.holds.has(owner) || passes
    const isBusy = this.#has('busy although free') && waitMs === 0
    if (isReentry || (this.#isFree(owner, mode) && isNext && !isBusy)) {
      return Promise.resolve(this.#grant(request))
    }
    if (this.holds.has(owner) && this.queue.some((other) => this.holds.has(other.owner))) {
      return Promise.resolve({ kind: 'refused', code: 'upgrade_conflict' })
    }
    if (waitMs === 0) return Promise.resolve({ kind: 'refused', code: 'held' })
    return new Promise((resolve) => {
      const waiter: ToyWaiter = { ...request, resolve }
      if (this.holds.has(owner)) this.queue.unshift(waiter)
      else this.queue.push(waiter)
      onQueued()
      this.#clock.setTimer(waitMs, () => this.#timeOut(waiter))
    })
  }

  #timeOut(waiter: ToyWaiter): void {
    if (this.#bug === 'a late grant after a time-out') {
      waiter.resolve({ kind: 'refused', code: 'timeout' })
      return
    }
    this.#leaveQueue((other) => other === waiter, 'timeout')
  }

  #leaveQueue(leaves: (waiter: ToyWaiter) => boolean, code: string): void {
    for (const waiter of this.queue.filter(leaves)) {
      this.queue.splice(this.queue.indexOf(waiter), 1)
      waiter.resolve({ kind: 'refused', code })
    }
    this.#advance()
  }

  #grant({ owner, mode, ttlMs }: ToyAcquire): ToyAnswer {
    const hold = this.holds.get(owner) ?? { reads: 0, writes: 0, token: 0, leaseUntil: 0 }
    const isUpgrade = mode === 'write' && hold.writes === 0 && hold.reads > 0
    const keeps = isUpgrade ? this.#bug === 'the old token after an upgrade' : hold.token > 0
    if (!keeps || this.#has('a new token on re-entry')) hold.token = this.#nextToken()
    if (mode === 'read') hold.reads++
    else hold.writes++
    this.holds.set(owner, hold)
    this.#extend(hold, ttlMs)
    return { kind: 'granted', token: hold.token, reads: hold.reads, writes: hold.writes }
  }

  #nextToken(): number {
    if (this.#has('a token used again')) return this.#token
    if (this.#has('a token going back')) return this.#token - 1
    return ++this.#token
  }

  #extend(hold: ToyHold, ttlMs: number): void {
    const leaseMs = this.#bug === 'a lease cut short' ? ttlMs / 2 : ttlMs
    hold.leaseUntil = Math.max(hold.leaseUntil, this.#clock.nowMs() + leaseMs)
    this.#clock.setTimer(leaseMs, () => this.#expire())
  }

  #leave(owner: string, mode: Mode): string {
    const hold = this.holds.get(owner)
    if (hold === undefined || (mode === 'read' ? hold.reads : hold.writes) === 0)
      return 'not_holder'
    if (mode === 'read') hold.reads--
    else hold.writes--
    const letsGo = this.#bug === 'a downgrade that lets go' && mode === 'write'
    if (hold.reads + hold.writes === 0 || letsGo) this.holds.delete(owner)
    return 'ok'
  }

  #expire(): void {
    for (const [owner, hold] of this.holds) {
      const isOver = hold.leaseUntil <= this.#clock.nowMs()
      if (isOver || this.#has('a hold that vanishes')) this.#drop(owner)
    }
    this.#advance()
  }

  #drop(owner: string): void {
    this.holds.delete(owner)
    const upgrades = this.queue.filter((waiter) => waiter.owner === owner)
    for (const waiter of upgrades) {
      this.queue.splice(this.queue.indexOf(waiter), 1)
      waiter.resolve({ kind: 'refused', code: 'not_holder' })
    }
  }

  #advance(): void {
    for (;;) {
      const isLast = this.#bug === 'last come, first served'
      const head = isLast ? this.queue.at(-1) : this.queue[0]
      const mayGo =
        head !== undefined &&
        (this.#isReentry(head.owner, head.mode) || this.#isFree(head.owner, head.mode))
      if (!mayGo) return
      this.queue.splice(this.queue.indexOf(head), 1)
      head.resolve(this.#grant(head))
    }
  }

  #isReentry(owner: string, mode: Mode): boolean {
    const hold = this.holds.get(owner)
    return hold !== undefined && (hold.writes > 0 || mode === 'read')
  }

  #isFree(owner: string, mode: Mode): boolean {
    if (this.#bug === 'an upgrade beside readers' && this.holds.has(owner)) return true
    if (this.#has('two writers')) return true
    return [...this.holds].every(([other, { writes }]) => {
      return other === owner || (mode === 'read' && writes === 0)
    })
  }

  #anyOwner(owner: string): string {
    return [...this.holds.keys()].find((other) => other !== owner) ?? owner
  }

  // A bug shows now and then, so that the run goes on around it.
  #has(bug: LockBug): boolean {
    return this.#bug === bug && ++this.#calls % 7 === 0
  }
}
