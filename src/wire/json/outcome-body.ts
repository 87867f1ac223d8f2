import type { Command } from '../../law/model/commands.ts'
import type { HolderShown, Outcome, RefusalCode, Refused } from '../../law/model/outcomes.ts'
import { snakeKeys } from './key-case.ts'

/** A status and a body, ready to be sent. */
export interface OutcomeAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** What a refusal is in HTTP: not yours (403), not there (404), not now (409), not so (400), too much (429). */
export const REFUSAL_STATUS: Readonly<Record<RefusalCode, number>> = {
  held: 409,
  timeout: 409,
  cancelled: 409,
  abandoned: 409,
  disconnected: 409,
  upgrade_conflict: 409,
  deadlock: 409,
  ended: 409,
  in_use: 409,
  not_holder: 403,
  stale_token: 403,
  no_session: 404,
  bad_request: 400,
  limit: 429,
}

/** The word that says yes or no in the answers of commands that have no outcome of their own to name. */
const FLAGS: Partial<Record<Command['kind'], string>> = {
  release: 'released',
  renew: 'renewed',
  cancel: 'cancelled',
}

/** The answer to a command. `outcome` names what happened; the rest are its facts. */
export function writeOutcome(command: Command, outcome: Outcome): OutcomeAnswer {
  if (outcome.kind === 'refused') return writeRefusal(command, outcome)
  const { kind, ...facts } = outcome
  const flag = FLAGS[command.kind]
  const subject = kind === 'granted' ? subjectOf(command) : {}
  const body = {
    outcome: kind,
    ...(flag === undefined ? {} : { [flag]: true }),
    ...subject,
    ...snakeKeys(facts),
  }
  if (outcome.kind === 'skip') return { status: 200, body: withValue(body, outcome.value) }
  if (outcome.kind === 'forced')
    return { status: 200, body: { outcome: kind, forced: outcome.count } }
  return { status: 200, body }
}

function writeRefusal(command: Command, outcome: Refused): OutcomeAnswer {
  const { kind, code, ...facts } = outcome
  const flag = FLAGS[command.kind]
  return {
    status: REFUSAL_STATUS[code],
    body: {
      outcome: kind,
      ...(flag === undefined ? {} : { [flag]: false }),
      code,
      error: sayRefusal(code, outcome),
      ...snakeKeys(facts),
    },
  }
}

function subjectOf(command: Command): Record<string, unknown> {
  if (command.kind === 'acquire') return { key: command.key, owner: command.owner }
  if (command.kind !== 'begin') return {}
  return { type: command.type, resource: command.resource, node: command.node }
}

function withValue(
  body: Readonly<Record<string, unknown>>,
  value: string | undefined,
): Record<string, unknown> {
  return { ...body, value: value === undefined ? undefined : JSON.parse(value) }
}

/** A sentence for people, and for clients that look for certain words in it: none of those is here. */
function sayRefusal(
  code: RefusalCode,
  { holders = [], cycle, nodes, end, detail }: Refused,
): string {
  const by = holders.length === 0 ? '' : ` by ${namesOf(holders)}`
  const sentences: Readonly<Record<RefusalCode, string>> = {
    held: `it is held${by}, or others are ahead in its queue`,
    timeout: `the wait is over; it is held${by}`,
    cancelled: 'the request was cancelled',
    abandoned: 'nobody asked for the waiting request for too long',
    disconnected: 'the session of the request has ended',
    upgrade_conflict: 'another reader already waits to become the writer',
    deadlock: `waiting would close a cycle: ${cycle?.join(' → ') ?? ''}`,
    not_holder: end === undefined ? 'you do not hold it' : `you do not hold it any more: ${end}`,
    stale_token: 'you hold it under another token',
    ended: `the request was granted and has ended since: ${end ?? 'released'}`,
    in_use: `it is in use by ${nodes?.join(', ') ?? 'others'}`,
    no_session: 'there is no such session, or it has ended',
    bad_request: 'the request contradicts itself or its earlier self',
    limit: 'a limit is reached',
  }
  return detail === undefined ? sentences[code] : `${sentences[code]}: ${detail}`
}

function namesOf(holders: readonly HolderShown[]): string {
  return holders.map(({ owner }) => owner).join(', ')
}
