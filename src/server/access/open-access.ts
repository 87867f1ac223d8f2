import { createError } from '../../engine/errors/errors.ts'
import type { AuditLog } from '../observe/audit-log.ts'
import type { ServerContext } from '../server-context.ts'
import { Access } from './access.ts'
import { Authenticator } from './authenticator.ts'
import { HoldQuota } from './hold-quota.ts'
import { ListTurns } from './list-turns.ts'
import { isLoopback } from './loopback.ts'
import { RefusalDetails } from './refusal-details.ts'
import type { TokenEntry } from './token-file.ts'

export interface AccessChoices {
  readonly host: string
  /** Absent where auth is off. */
  readonly tokens?: readonly TokenEntry[] | undefined
  /** Clients need a certificate, which is a way of knowing them. */
  readonly asksForCertificates: boolean
  /** Listen beyond this machine although every client may do everything. */
  readonly insecure?: boolean | undefined
  /** Told what operators do. */
  readonly audit: AuditLog
}

/** Whether other machines can reach the locks only with credentials, or the operator wants it otherwise. */
export function isGuarded(choices: Omit<AccessChoices, 'audit'>): boolean {
  const { host, tokens, asksForCertificates, insecure = false } = choices
  return isLoopback(host) || tokens !== undefined || asksForCertificates || insecure
}

/** Refuses to open the locks to a network without credentials. */
export function assertGuarded(choices: Omit<AccessChoices, 'audit'>): void {
  if (isGuarded(choices)) return
  throw createError(
    'LOCK_INVALID_ARGUMENT',
    `listening on ${choices.host} lets everyone who reaches it end every lock: give tokens, or say insecure`,
    { details: { field: 'host' } },
  )
}

/** The gate of a server. */
export function createAccess(
  context: Pick<ServerContext, 'engine' | 'clock' | 'limits' | 'metrics'>,
  { host, tokens, audit }: AccessChoices,
): Access {
  const { engine, clock, limits, metrics } = context
  const lists = new ListTurns(engine)
  return new Access({
    engine,
    limits,
    lists,
    holds: new HoldQuota({ engine, lists, limit: limits.holds, nowMs: () => clock.nowMs() }),
    refusals: new RefusalDetails(clock),
    authenticator: tokens === undefined ? undefined : new Authenticator(tokens),
    isLoopbackOnly: isLoopback(host),
    audit,
    onLimit: (kind) => metrics.refused(kind, 'limit'),
  })
}
