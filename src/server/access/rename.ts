import type { Command } from '../../law/model/commands.ts'
import { ownerOf } from '../../law/operations.ts'
import type { Namespace } from '../../law/model/view.ts'
import type { PrincipalView } from './principal-view.ts'

/** The fields of commands that hold names which belong to a principal. */
const STORED = ['owner', 'node', 'session', 'party'] as const

/** The fields of outcomes, replies and events with such names; `parts` are objects with fields of their own. */
const SHOWN: Readonly<Record<string, 'owner' | 'name' | 'names' | 'part' | 'parts'>> = {
  owner: 'owner',
  node: 'name',
  session: 'name',
  cycle: 'names',
  nodes: 'names',
  references: 'names',
  unclaimed: 'names',
  holder: 'part',
  holders: 'parts',
  queue: 'parts',
  waiting: 'parts',
  locks: 'parts',
  remembered: 'parts',
  ends: 'parts',
}

/** A command with the names that the engine knows its principal by. */
export function storeNames(view: PrincipalView, command: Command): Command {
  const stored: Record<string, unknown> = { ...command }
  for (const field of STORED) {
    const name = stored[field]
    if (typeof name !== 'string') continue
    stored[field] = toStored(view, command, name)
  }
  return goingByOwner(command, stored as unknown as Command)
}

function toStored(view: PrincipalView, command: Command, name: string): string {
  switch (command.kind) {
    case 'force':
      // An operator ends the holds of any principal.
      return view.toStoredAnyOwner(name, command.namespace)
    case 'cancel':
      return view.toStoredOwner(name, command.namespace)
    default:
      return view.toStored(name)
  }
}

/** The request of an operation that goes by its owner's name goes by the stored one. */
function goingByOwner(given: Command, stored: Command): Command {
  if (given.kind === 'begin' && stored.kind === 'begin') {
    const isNamed = given.requestId !== ownerOf(given)
    return isNamed ? stored : { ...stored, requestId: ownerOf(stored) }
  }
  if (given.kind !== 'cancel' || stored.kind !== 'cancel') return stored
  const isNamed = given.namespace !== 'operation' || given.requestId !== given.owner
  return isNamed ? stored : { ...stored, requestId: stored.owner }
}

/** An outcome, a reply or an event with the names that a principal knows. */
export function showNames<Value extends object>(
  view: PrincipalView,
  value: Value,
  namespace?: Namespace,
): Value {
  const all = value as Readonly<Record<string, unknown>>
  const shown: Record<string, unknown> = { ...all }
  const within = (all['namespace'] as Namespace | undefined) ?? namespace
  for (const [field, inner] of Object.entries(all)) {
    const kind = SHOWN[field]
    if (kind === undefined || inner === undefined || inner === null) continue
    if (kind === 'owner') shown[field] = view.toShownOwner(inner as string, within)
    else if (kind === 'name') shown[field] = view.toShown(inner as string)
    else if (kind === 'names') shown[field] = (inner as string[]).map((one) => view.toShown(one))
    else if (kind === 'part') shown[field] = showNames(view, inner, within)
    else shown[field] = (inner as object[]).map((one) => showNames(view, one, within))
  }
  // An operation that was given no request id has its owner for one.
  if ('requestId' in all && all['requestId'] === all['owner']) shown['requestId'] = shown['owner']
  return shown as Value
}
