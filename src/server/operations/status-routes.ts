import type { InspectReply } from '../../engine/queries.ts'
import { ownerOf } from '../../law/operations.ts'
import type { Begin } from '../../law/model/commands.ts'
import type { OutcomeOf } from '../../law/model/outcomes.ts'
import type {
  NodeStatus,
  ReferencesAnswer,
  ResourceStatus,
  UnrefAnswer,
} from '../../wire/json/operation-body.ts'
import type { Exchange } from '../http/exchange.ts'
import * as field from '../http/field-types.ts'
import type { Asked } from '../http/fields.ts'
import { createRoute, type Route } from '../http/route.ts'
import { answer } from '../openapi/schema-words.ts'
import { checkSubject, inspectResource, type Subject, successToSkip } from './operation-state.ts'

const OF_RESOURCE = { resource: { ...field.RESOURCE, wire: 'resource_id', needed: true } } as const
const OF_TYPE = { type: { ...field.OPERATION_TYPE, needed: true }, ...OF_RESOURCE } as const
const OF_NODE = { node: { ...field.NODE, wire: 'node_id', needed: true } } as const
const POLLED = { ...OF_TYPE, ...OF_NODE, version: field.VERSION } as const
const DROPPED = { resource: { ...field.RESOURCE, wire: 'resource_id' }, ...OF_NODE } as const

/** How operations stand, and who references what. */
export const STATUS_ROUTES: readonly Route[] = [
  createRoute({
    id: 'pollStatus',
    method: 'POST',
    path: '/lock/status',
    access: 'client',
    summary: 'How things stand for one node, which keeps its place by asking.',
    body: POLLED,
    answers: { 200: answer('The standing.', 'NodeStatus') },
    handle: pollStatus,
  }),
  createRoute({
    id: 'showStatus',
    method: 'GET',
    path: '/lock/status',
    access: 'client',
    summary: 'How a resource stands.',
    query: OF_TYPE,
    answers: { 200: answer('The state.', 'ResourceStatus') },
    handle: showStatus,
  }),
  createRoute({
    id: 'showReferences',
    method: 'GET',
    path: '/refs',
    access: 'client',
    summary: 'Which nodes reference a resource.',
    query: OF_RESOURCE,
    answers: { 200: answer('The nodes.', 'ResourceReferences') },
    handle: showReferences,
  }),
  createRoute({
    id: 'dropReference',
    method: 'POST',
    path: '/unref',
    access: 'client',
    summary: 'Drop a reference of a node, or all of them.',
    body: DROPPED,
    answers: { 200: answer('What was removed.', 'Unreferencing') },
    handle: dropReference,
  }),
]

type NodeSubject = Asked<typeof POLLED>

/**
 * How a node's own request stands. Polling is asking: it keeps a waiter's place, claims a grant, and a
 * node that is told to skip a pull uses it. But it never joins a queue: a node that neither has nor waits
 * nor skips is told that its operation is over, and asks `/lock` again.
 */
async function pollStatus(exchange: Exchange, subject: NodeSubject): Promise<void> {
  checkSubject(subject)
  const known = await findKnown(exchange, subject)
  const standing = known === undefined ? OVER : await ask(exchange, known)
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

async function showStatus(exchange: Exchange, subject: Asked<typeof OF_TYPE>): Promise<void> {
  checkSubject(subject)
  const state = await inspectResource(exchange.engine, subject.resource)
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

async function showReferences(
  exchange: Exchange,
  { resource }: Asked<typeof OF_RESOURCE>,
): Promise<void> {
  const { nodes } = await exchange.engine.read({ kind: 'references', resource })
  const answer: ReferencesAnswer = { resource_id: resource, count: nodes.length, nodes }
  exchange.send(200, answer)
}

async function dropReference(exchange: Exchange, asked: Asked<typeof DROPPED>): Promise<void> {
  const outcome = await exchange.engine.apply({ kind: 'unref', ...asked })
  const { removed, count } = outcome.kind === 'unreferenced' ? outcome : { removed: 0, count: 0 }
  const answer: UnrefAnswer =
    asked.resource === undefined ? { removed } : { removed: removed > 0, count }
  exchange.send(200, answer)
}
