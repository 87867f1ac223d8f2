/**
 * What a decision turned out to need of a key and what was not loaded. The law is pure, so whoever meets
 * this loads the part and asks the law again.
 */
export type KeyPart =
  /** All holds. */
  | { readonly kind: 'holds' }
  | { readonly kind: 'hold'; readonly owner: string }
  | { readonly kind: 'due-holds' }
  | { readonly kind: 'holds-in'; readonly session: string }
  | { readonly kind: 'session'; readonly id: string }
  /** The first waiters of every lane, and all upgraders. */
  | { readonly kind: 'heads' }
  /** More of a lane, behind this place. */
  | { readonly kind: 'lane'; readonly lane: number; readonly behind: number }
  | { readonly kind: 'lane-lengths' }
  | { readonly kind: 'ahead'; readonly lane: number; readonly place: number }
  | { readonly kind: 'waiters-of'; readonly owner: string }
  | { readonly kind: 'waiters-in'; readonly session: string }
  | { readonly kind: 'waiters-of-type'; readonly type: string }
  | { readonly kind: 'due-waiters' }
  | { readonly kind: 'references' }
  | { readonly kind: 'reference'; readonly node: string }
  | { readonly kind: 'unclaimed-references' }
  | { readonly kind: 'successes' }

export class MissingPart extends Error {
  readonly part: KeyPart

  constructor(part: KeyPart) {
    super(`${part.kind} is not loaded`)
    this.part = part
  }
}
