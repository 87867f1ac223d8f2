import { badRequest } from './http-error.ts'
import type { Route } from './route.ts'

export interface RouteMatch {
  readonly route: Route
  readonly parameters: Readonly<Record<string, string>>
}

/** What a path knows: the routes of its methods. */
type Methods = Map<string, Route>

interface Pattern {
  readonly expression: RegExp
  /** Up to its first parameter. */
  readonly beginning: string
  readonly methods: Methods
}

const NO_PARAMETERS: Readonly<Record<string, string>> = Object.freeze({})

/** Finds the route of a method and path. Paths without parameters are looked up, the others tried in turn. */
export class Router {
  readonly #plain = new Map<string, Methods>()
  readonly #patterns: Pattern[] = []

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#methodsOf(route.path).set(route.method, route)
  }

  /** A match, the methods that the path has instead, or `undefined` for an unknown path. */
  find(method: string, path: string): RouteMatch | readonly string[] | undefined {
    const plain = this.#plain.get(path)
    if (plain !== undefined) return choose(plain, method, NO_PARAMETERS)
    for (const { expression, methods } of this.#patterns) {
      const found = expression.exec(path)
      if (found !== null) return choose(methods, method, decode(found.groups ?? {}))
    }
    return undefined
  }

  /** How a route with parameters begins that this path may have been meant for. */
  beginningOf(path: string): string | undefined {
    return this.#patterns.find(({ beginning }) => path.startsWith(beginning))?.beginning
  }

  #methodsOf(path: string): Methods {
    const expression = path.includes('{') ? toExpression(path) : undefined
    const known =
      expression === undefined
        ? this.#plain.get(path)
        : this.#patterns.find((one) => one.expression.source === expression.source)?.methods
    if (known !== undefined) return known
    const methods: Methods = new Map()
    if (expression === undefined) this.#plain.set(path, methods)
    else this.#patterns.push({ expression, methods, beginning: path.slice(0, path.indexOf('{')) })
    return methods
  }
}

function choose(
  methods: Methods,
  method: string,
  parameters: Readonly<Record<string, string>>,
): RouteMatch | readonly string[] {
  const route = methods.get(method) ?? (method === 'HEAD' ? headOf(methods) : undefined)
  if (route !== undefined) return { route, parameters }
  return headOf(methods) === undefined ? [...methods.keys()] : [...methods.keys(), 'HEAD']
}

/** `HEAD` is answered as `GET` is; Node leaves out the body. */
function headOf(methods: Methods): Route | undefined {
  const get = methods.get('GET')
  return get?.isStream === true ? undefined : get
}

function toExpression(path: string): RegExp {
  const literal = path.replaceAll(/[.*+?^$|()[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${literal.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

/** Text that is not UTF-8 is refused and not repaired: two keys must not become one. */
function decode(groups: Readonly<Record<string, string>>): Record<string, string> {
  const parameters: Record<string, string> = {}
  for (const [name, raw] of Object.entries(groups)) {
    try {
      parameters[name] = decodeURIComponent(raw)
    } catch {
      throw badRequest(name, 'is not percent-encoded UTF-8')
    }
  }
  return parameters
}
