import type { WatchEvent } from '../../engine/engine.ts'
import { createError } from '../../engine/errors/errors.ts'
import { nodeOf } from '../../law/operations.ts'
import type { Namespace } from '../../law/model/view.ts'
import { narrow } from './list-by-rights.ts'
import type { Principal } from './principal.ts'
import { showNames } from './rename.ts'

/** The names of all principals, which may change while the server runs. */
export type KnownNames = () => ReadonlySet<string>

/**
 * The engine's names as one principal sees and says them. Its owners, nodes and sessions are stored as
 * `NAME/owner`; it sees its own without that, and those of others whole.
 */
export class PrincipalView {
  readonly #prefix: string | undefined
  readonly #rights: readonly string[] | undefined
  readonly #known: KnownNames

  constructor(principal: Principal, known: KnownNames) {
    this.#prefix = principal.name === undefined ? undefined : `${principal.name}/`
    this.#rights = principal.prefixes
    this.#known = known
  }

  /** Nothing has another name here and nothing is hidden. */
  get isPlain(): boolean {
    return this.#prefix === undefined && this.#rights === undefined
  }

  /** How many bytes of a stored name are the principal's. */
  get prefixBytes(): number {
    return this.#prefix?.length ?? 0
  }

  /** The key prefixes that this principal may touch; all where it is `undefined`. */
  get rights(): readonly string[] | undefined {
    return this.#rights
  }

  /** Well-formed texts begin with each other exactly when their bytes do. */
  mayTouch(key: string): boolean {
    return this.#rights === undefined || this.#rights.some((prefix) => key.startsWith(prefix))
  }

  /** Throws a `ForbiddenError` where nothing that begins so may be touched. */
  assertPrefix(prefix: string): void {
    if (this.#rights === undefined || narrow(this.#rights, prefix).length > 0) return
    throw createError('LOCK_FORBIDDEN', 'this token has no right to keys like these')
  }

  /** An own name, as it is stored. */
  toStored(name: string): string {
    return this.#prefix === undefined ? name : this.#prefix + name
  }

  /** A name as this principal reads it. */
  toShown(name: string): string {
    const prefix = this.#prefix
    return prefix !== undefined && name.startsWith(prefix) ? name.slice(prefix.length) : name
  }

  /**
   * A name that may also be another principal's, as an operator reads it off a list: whole where its first
   * part is a principal's name, own otherwise.
   */
  toStoredOfAny(name: string): string {
    const slash = name.indexOf('/')
    return slash > 0 && this.#known().has(name.slice(0, slash)) ? name : this.toStored(name)
  }

  /** The owner of an operation is its type and its node. */
  toStoredOwner(owner: string, namespace: Namespace | undefined): string {
    return mapOwner(owner, namespace, (name) => this.toStored(name))
  }

  toStoredAnyOwner(owner: string, namespace: Namespace | undefined): string {
    return mapOwner(owner, namespace, (name) => this.toStoredOfAny(name))
  }

  toShownOwner(owner: string, namespace: Namespace | undefined): string {
    return mapOwner(owner, namespace, (name) => this.toShown(name))
  }

  /** An event as this principal may hear of it; `undefined` where it may not. */
  showEvent(event: WatchEvent): WatchEvent | undefined {
    if (this.isPlain || event.kind === 'reset') return event
    if (!this.mayTouch(event.key)) return undefined
    return showNames(this, event)
  }
}

function mapOwner(
  owner: string,
  namespace: Namespace | undefined,
  rename: (name: string) => string,
): string {
  if (namespace !== 'operation') return rename(owner)
  const node = nodeOf(owner)
  return owner.slice(0, owner.length - node.length) + rename(node)
}
