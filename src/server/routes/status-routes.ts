import type { InspectReply } from '../../engine/queries.ts'
import { ownerOf } from '../../law/operations.ts'
import type { Begin } from '../../law/commands.ts'
import type { OutcomeOf } from '../../law/outcomes.ts'
import {
  type NodeStatus,
  type ReferencesAnswer,
  type ResourceStatus,
  STATUS_FIELDS,
  UNREF_FIELDS,
  type UnrefAnswer,
} from '../../protocol/json/operation-body.ts'
import type { Exchange } from '../http/exchange.ts'
import { neededQueryText } from '../http/query-reader.ts'
import type { Route } from '../http/route.ts'
import { checkSubject, inWireNames, readAsked, type Subject } from './operation-names.ts'
import { inspectResource, successToSkip } from './operation-state.ts'

/** How operations stand, and who references what. */
export const STATUS_ROUTES: readonly Route[] = [
  { method: 'POST', path: '/lock/status', access: 'client', handle: pollStatus },
  { method: 'GET', path: '/lock/status', access: 'client', handle: showStatus },
  { method: 'GET', path: '/refs', access: 'client', handle: showReferences },
  { method: 'POST', path: '/unref', access: 'client', handle: dropReference },
]

interface NodeSubject extends Subject {
  readonly node: string
}

/**
 * How a node's own request stands. Polling is asking: it keeps a waiter's place, claims a grant, and a
 * node that is told to skip a pull uses it. But it never joins a queue: a node that neither has nor waits
 * nor skips is told that its operation is over, and asks `/lock` again.
 */
async function pollStatus(exchange: Exchange): Promise<void> {
  const asked = readAsked<{
    readonly type: string
    readonly resourceId: string
    readonly nodeId: string
    readonly version?: string
  }>(STATUS_FIELDS, exchange.body)
  const { type, version } = asked
  const subject = { type, resource: asked.resourceId, node: asked.nodeId, version }
  checkSubject(subject)
  const known = await inWireNames(findKnown(exchange, subject))
  const standing = known === undefined ? OVER : await inWireNames(ask(exchange, known))
  const state = await inspectResource(exchange.engine, subject.resource)
  exchange.send(200, {
    ...standing,
    ...toResourceStatus(exchange, state, subject),
    ...standing,
  } satisfies NodeStatus)
}

type PolledStanding = Pick<NodeStatus, 'acquired' | 'completed' | 'success'>

const OVER: PolledStanding = { acquired: false, completed: true, success: false }

/**
 * What to ask for so that asking is sure to find a standing or a success; `undefined` when there is neither.
 * If it is gone when it is asked for, asking does what `/lock` would. A poll may leave out the version of
 * the standing that it asks about.
 */
async function findKnown(
  { engine, context }: Exchange,
  subject: NodeSubject,
): Promise<NodeSubject | undefined> {
  const { resource } = subject
  const [{ holder, waiting }, state] = await Promise.all([
    engine.read({
      kind: 'standing',
      namespace: 'operation',
      key: resource,
      owner: ownerOf(subject),
    }),
    inspectResource(engine, resource),
  ])
  const standing = holder ?? waiting[0]
  if (standing !== undefined) return { ...subject, version: subject.version ?? standing.version }
  return successToSkip(state, subject, context.settings) === undefined ? undefined : subject
}

async function ask(
  { engine, context }: Exchange,
  { type, resource, node, version }: NodeSubject,
): Promise<PolledStanding> {
  const { coordination } = context.settings
  const begin: Begin = {
    kind: 'begin',
    type,
    resource,
    node,
    version,
    coordination,
  }
  const outcome = await engine.apply(begin)
  if (outcome.kind === 'granted') context.operations.claim(resource, outcome.token)
  return toPolledStanding(outcome)
}

function toPolledStanding(outcome: OutcomeOf<Begin>): PolledStanding {
  switch (outcome.kind) {
    case 'granted':
      return { acquired: true, completed: false, success: false }
    case 'queued':
      return { acquired: false, completed: false, success: false }
    case 'skip':
      return { acquired: false, completed: true, success: true }
    case 'dissolved':
    case 'refused':
      return OVER
  }
}

async function showStatus(exchange: Exchange): Promise<void> {
  const type = neededQueryText(exchange, 'type')
  const resource = neededQueryText(exchange, 'resource_id')
  const subject = { type, resource }
  checkSubject(subject)
  const state = await inWireNames(inspectResource(exchange.engine, resource))
  exchange.send(200, toResourceStatus(exchange, state, subject))
}

function toResourceStatus(
  { context }: Exchange,
  state: InspectReply,
  subject: Subject,
): ResourceStatus {
  const { holders, queue, references } = state
  const [holder] = holders
  const isDone = successToSkip(state, subject, context.settings) !== undefined
  const sinceMs = context.clock.wallMs() - (holder?.heldMs ?? 0)
  return {
    held: holder !== undefined,
    holder: holder?.node ?? null,
    type: holder?.type ?? null,
    token: holder?.token ?? null,
    since: holder === undefined ? null : new Date(sinceMs).toISOString(),
    completed: isDone,
    success: isDone,
    queue: queue.map((waiter) => ({
      node_id: waiter.node ?? waiter.owner,
      type: waiter.type ?? '',
      position: waiter.position,
    })),
    refs: { count: references.length, nodes: references },
  }
}

async function showReferences(exchange: Exchange): Promise<void> {
  const resource = neededQueryText(exchange, 'resource_id')
  const { nodes } = await inWireNames(exchange.engine.read({ kind: 'references', resource }))
  const answer: ReferencesAnswer = { resource_id: resource, count: nodes.length, nodes }
  exchange.send(200, answer)
}

async function dropReference(exchange: Exchange): Promise<void> {
  const { resourceId, nodeId } = readAsked<{
    readonly resourceId?: string
    readonly nodeId: string
  }>(UNREF_FIELDS, exchange.body)
  const outcome = await inWireNames(
    exchange.engine.apply({ kind: 'unref', resource: resourceId, node: nodeId }),
  )
  const { removed, count } = outcome.kind === 'unreferenced' ? outcome : { removed: 0, count: 0 }
  const answer: UnrefAnswer =
    resourceId === undefined ? { removed } : { removed: removed > 0, count }
  exchange.send(200, answer)
}
