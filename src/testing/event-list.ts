/**
 * Calls and returns in a doubly linked list, by time. A node that was taken out still knows its
 * former neighbours, so that what was taken out last can be put back in its place.
 */

export interface EventNode<Item> {
  /** The head stands before all events. */
  readonly kind: 'head' | 'call' | 'return'
  /** Position of the item among all, by call. */
  readonly rank: number
  readonly item: Item | null
  readonly at: number
  /** The return that belongs to a call. */
  readonly match: EventNode<Item> | null
  previous: EventNode<Item> | null
  next: EventNode<Item> | null
}

interface Spanning {
  readonly call: number
  readonly ret: number
}

/** Links the events of items that are sorted by call; where times are equal, calls come first. */
export function linkEvents<Item extends Spanning>(byCall: readonly Item[]): EventNode<Item> {
  const links = { previous: null, next: null }
  const events = byCall.flatMap((item, rank): EventNode<Item>[] => {
    const match = { kind: 'return', rank, item, at: item.ret, match: null, ...links } as const
    return [{ kind: 'call', rank, item, at: item.call, match, ...links }, match]
  })
  events.sort((a, b) => a.at - b.at || Number(a.kind === 'return') - Number(b.kind === 'return'))
  const head: EventNode<Item> = { kind: 'head', rank: -1, item: null, at: 0, match: null, ...links }
  let last = head
  for (const event of events) {
    event.previous = last
    last.next = event
    last = event
  }
  return head
}

export function unlink<Item>(node: EventNode<Item>): void {
  if (node.previous !== null) node.previous.next = node.next
  if (node.next !== null) node.next.previous = node.previous
}

/** Puts back what was taken out last. */
export function relink<Item>(node: EventNode<Item>): void {
  if (node.previous !== null) node.previous.next = node
  if (node.next !== null) node.next.previous = node
}
