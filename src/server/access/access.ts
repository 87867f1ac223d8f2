import type { IncomingMessage } from 'node:http'
import type { LockEngine } from '../../engine/engine.ts'
import type { AuditLog } from '../observe/audit-log.ts'
import { HttpError } from '../http/http-error.ts'
import type { Route } from '../http/route.ts'
import type { ServerLimits } from '../server-limits.ts'
import type { Authenticator } from './authenticator.ts'
import { checkBrowser } from './browser-check.ts'
import { type Credential, NO_CREDENTIAL } from './credential.ts'
import type { HoldQuota } from './hold-quota.ts'
import type { ListTurns } from './list-turns.ts'
import type { Principal } from './principal.ts'
import { PrincipalEngine } from './principal-engine.ts'
import { type KnownNames, PrincipalView } from './principal-view.ts'
import type { RefusalDetails } from './refusal-details.ts'
import type { TokenEntry } from './token-file.ts'

export interface AccessOptions {
  readonly engine: LockEngine
  readonly limits: ServerLimits
  readonly holds: HoldQuota
  readonly lists: ListTurns
  readonly refusals: RefusalDetails
  /** Absent where auth is off. */
  readonly authenticator: Authenticator | undefined
  /** Only this machine can reach the server, so only its own names are answered to. */
  readonly isLoopbackOnly: boolean
  readonly audit: AuditLog
  /** Told that a principal has too many holds to ask for one more. */
  readonly onLimit: (kind: 'lock' | 'operation') => void
}

/** A principal that may come in. */
export interface Caller {
  readonly credential: Credential
  readonly principal: Principal
  /** The engine as this principal may use it. */
  readonly engine: LockEngine
  /** Names and events as it sees them. */
  readonly view: PrincipalView
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** Who asks, and what each may do: the one gate of every request and every session. */
export class Access {
  readonly #options: AccessOptions
  readonly #known: KnownNames
  readonly #callers = new WeakMap<Credential, Caller>()

  constructor(options: AccessOptions) {
    this.#options = options
    this.#known = () => options.authenticator?.names ?? NO_NAMES
  }

  /** Looks at what is held already. */
  open(): Promise<void> {
    return this.#options.holds.open()
  }

  get isOn(): boolean {
    return this.#options.authenticator !== undefined
  }

  /** Throws a 401 or 403 for those who may not. Also for an upgrade to a session. */
  admit(request: IncomingMessage, route: Pick<Route, 'access' | 'isStream'>): Caller {
    const { access: right, isStream } = route
    const { authenticator } = this.#options
    const isLoopbackOnly = this.#options.isLoopbackOnly && authenticator === undefined
    checkBrowser(request, { isLoopbackOnly, isStream })
    if (authenticator === undefined || right === 'open') return this.#callerOf(NO_CREDENTIAL)
    const credential = authenticator.authenticate(request)
    if (right === 'admin' && credential.principal.role !== 'admin') {
      throw new HttpError(403, 'forbidden', { message: 'this needs the right of an admin' })
    }
    return this.#callerOf(credential)
  }

  #callerOf(credential: Credential): Caller {
    const known = this.#callers.get(credential)
    if (known !== undefined) return known
    const { principal } = credential
    const view = new PrincipalView(principal, this.#known)
    const engine = new PrincipalEngine({ ...this.#options, principal, view })
    const caller = { credential, principal, engine, view }
    this.#callers.set(credential, caller)
    return caller
  }

  /** Tokens that are gone or have other rights are refused from now on, and what they have open ends. */
  replaceTokens(entries: readonly TokenEntry[]): void {
    this.#options.authenticator?.replace(entries)
  }
}
