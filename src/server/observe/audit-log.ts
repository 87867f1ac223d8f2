/** What an operator did that others will ask about. */
export interface AuditEntry {
  readonly action: 'force'
  /** Who did it; `undefined` where auth is off. */
  readonly principal: string | undefined
  readonly kind: 'lock' | 'operation'
  readonly key: string
  /** Whose holds were ended; `undefined` for those of all owners. */
  readonly owner: string | undefined
  /** How many holds ended. */
  readonly count: number
}

/** Told of every such deed after it was done. Must not throw. */
export type AuditLog = (entry: AuditEntry) => void
