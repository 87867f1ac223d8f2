import { ownerOf } from '../../law/operations.ts'
import type { PrincipalView } from '../access/principal-view.ts'
import type { Exchange } from '../http/exchange.ts'
import type { OperationNews } from './operation-news.ts'
import { inspectResource, type Subject, successToReplay } from './operation-state.ts'

/** What a listener is told before anything new. */
export interface Opening {
  readonly news: readonly OperationNews[]
  /** The listener's place in the queue, if it has one. */
  readonly position?: number | undefined
}

interface Looking {
  readonly subject: Subject
  readonly view: PrincipalView
}

/** What a client that comes back has missed; else how things stand for one that is new. */
export async function lookFirst(exchange: Exchange, looking: Looking): Promise<Opening> {
  const { context, request } = exchange
  const { operations } = context
  const { type, resource } = looking.subject
  const lastId = request.headers['last-event-id']
  const missed = typeof lastId === 'string' ? operations.since(lastId, resource) : undefined
  const id = operations.lastId
  const standing = await lookAtStanding(exchange, looking)
  if (missed !== undefined) return { ...standing, news: missed }
  if (lastId === undefined) return standing
  const atMs = context.clock.wallMs()
  const reset = { id, kind: 'reset', type, node: '', error: '', atMs } as const
  return { ...standing, news: [reset, ...standing.news] }
}

/** A grant that came before the stream, the place in the queue, or a success that was missed. */
export async function lookAtStanding(exchange: Exchange, looking: Looking): Promise<Opening> {
  return (await lookAtNode(exchange, looking)) ?? lookAtResource(exchange, looking)
}

/** `undefined` for a listener that does not say who it is, or has no standing. */
async function lookAtNode(
  { engine, context }: Exchange,
  { subject, view }: Looking,
): Promise<Opening | undefined> {
  const { type, resource, node } = subject
  if (node === undefined) return undefined
  const id = context.operations.lastId
  const owner = ownerOf({ type, node })
  const { holder, waiting } = await engine.read({
    kind: 'standing',
    namespace: 'operation',
    key: resource,
    owner,
  })
  if (holder === null) {
    return waiting[0] && { news: [], position: waiting[0].position }
  }
  const atMs = context.clock.wallMs() - holder.heldMs
  const { token } = holder
  return {
    news: [{ id, kind: 'granted', type, node: view.toStored(node), error: '', token, atMs }],
  }
}

async function lookAtResource(
  { engine, context }: Exchange,
  { subject }: Looking,
): Promise<Opening> {
  const id = context.operations.lastId
  const state = await inspectResource(engine, subject.resource)
  const success = successToReplay(state, subject, context.settings)
  if (success === undefined) return { news: [] }
  const atMs = context.clock.wallMs() - success.agoMs
  const { node } = success
  return { news: [{ id, kind: 'succeeded', type: subject.type, node, error: '', atMs }] }
}
