/**
 * Who is asking. With auth on, a principal is a bearer token's name with its rights; with auth off there
 * is one, without a name, that may do everything.
 */
export interface Principal {
  /** `undefined` where auth is off. Letters, digits, `.`, `_` and `-`. */
  readonly name: string | undefined
  readonly role: 'client' | 'admin'
  /** Keys and resources that begin with one of these may be touched; all where it is `undefined`. */
  readonly prefixes: readonly string[] | undefined
}

export const UNNAMED: Principal = Object.freeze({
  name: undefined,
  role: 'admin',
  prefixes: undefined,
})
