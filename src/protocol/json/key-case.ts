/** Plain data with its member names in the wire's case or in the code's. Values are left as they are. */
export function snakeKeys(value: unknown): Record<string, unknown> {
  return mapKeys(value, toSnake) as Record<string, unknown>
}

export function camelKeys(value: unknown): Record<string, unknown> {
  return mapKeys(value, toCamel) as Record<string, unknown>
}

function mapKeys(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => mapKeys(one, rename))
  if (typeof value !== 'object' || value === null) return value
  const renamed: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) renamed[rename(name)] = mapKeys(member, rename)
  }
  return renamed
}

/** One name, as it is on the wire. */
export function toSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** One name, as it is in the code. */
export function toCamel(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
