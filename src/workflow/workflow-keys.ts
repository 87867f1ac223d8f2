import { createError } from '../engine/errors/errors.ts'

/**
 * The names of what a workflow engine locks:
 *
 * - `workflow:ID`, a whole run of a workflow,
 * - `node:WORKFLOW:NODE`, one node of it,
 * - `node:WORKFLOW:PARENT:ITERATION`, one turn of a loop,
 * - `resource:TYPE:ID`, something outside that several workflows use.
 *
 * Ids are escaped: whatever is in them, two different things never have the same key, and the parts can
 * be had back. `%`, `:` and control characters become `%` and two hexadecimal digits for each byte;
 * everything else stays as it is.
 */
export type WorkflowKey =
  | { readonly kind: 'workflow'; readonly workflowId: string }
  | { readonly kind: 'node'; readonly workflowId: string; readonly nodeId: string }
  | {
      readonly kind: 'iteration'
      readonly workflowId: string
      readonly parentId: string
      readonly iteration: number
    }
  | { readonly kind: 'resource'; readonly resourceType: string; readonly resourceId: string }

/** `workflow:ID` */
export function toWorkflowKey(workflowId: string): string {
  return `workflow:${escape('workflowId', workflowId)}`
}

/** `node:WORKFLOW:NODE` */
export function toNodeKey(workflowId: string, nodeId: string): string {
  return `node:${escape('workflowId', workflowId)}:${escape('nodeId', nodeId)}`
}

/** `node:WORKFLOW:PARENT:ITERATION`: one more part than a node has, so the two are never the same. */
export function toIterationKey(workflowId: string, parentId: string, iteration: number): string {
  if (!Number.isSafeInteger(iteration) || iteration < 0) {
    throw toInvalid('iteration', 'must be a whole number, 0 or more')
  }
  return `node:${escape('workflowId', workflowId)}:${escape('parentId', parentId)}:${iteration}`
}

/** `resource:TYPE:ID` */
export function toResourceKey(resourceType: string, resourceId: string): string {
  return `resource:${escape('resourceType', resourceType)}:${escape('resourceId', resourceId)}`
}

/** The parts of a key that one of the builders made; `null` for any other. */
export function tryParseWorkflowKey(key: string): WorkflowKey | null {
  const parsed = parse(key)
  // A key that the builders would write in another way is not one of theirs.
  return parsed !== null && build(parsed) === key ? parsed : null
}

function parse(key: string): WorkflowKey | null {
  const [kind, ...escaped] = key.split(':')
  const parts = escaped.map(unescape)
  if (parts.includes('')) return null
  const [first = '', second = '', third = ''] = parts
  switch (`${kind} ${parts.length}`) {
    case 'workflow 1':
      return { kind: 'workflow', workflowId: first }
    case 'node 2':
      return { kind: 'node', workflowId: first, nodeId: second }
    case 'node 3':
      return /^\d{1,16}$/.test(third)
        ? { kind: 'iteration', workflowId: first, parentId: second, iteration: Number(third) }
        : null
    case 'resource 2':
      return { kind: 'resource', resourceType: first, resourceId: second }
    default:
      return null
  }
}

function build(key: WorkflowKey): string | null {
  switch (key.kind) {
    case 'workflow':
      return toWorkflowKey(key.workflowId)
    case 'node':
      return toNodeKey(key.workflowId, key.nodeId)
    case 'iteration':
      return Number.isSafeInteger(key.iteration)
        ? toIterationKey(key.workflowId, key.parentId, key.iteration)
        : null
    case 'resource':
      return toResourceKey(key.resourceType, key.resourceId)
    default:
      return key satisfies never
  }
}

/** What separates parts, what escapes, and what no key may have: C0, DEL and C1. */
const SPECIAL = /[%:\p{Cc}]/gu

const LONE_SURROGATE = /\p{Cs}/u

function escape(field: string, part: string): string {
  if (typeof part !== 'string' || part === '') throw toInvalid(field, 'must be a text, not empty')
  if (LONE_SURROGATE.test(part)) throw toInvalid(field, 'must be well-formed Unicode')
  return part.replaceAll(SPECIAL, toBytes)
}

function toBytes(character: string): string {
  const bytes = [...new TextEncoder().encode(character)]
  return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

/** Empty where the text is not an escaped one; no part is. */
function unescape(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return ''
  }
}

function toInvalid(field: string, message: string): Error {
  return createError('LOCK_INVALID_ARGUMENT', `workflow key: ${field} ${message}`, {
    details: { field },
  })
}
