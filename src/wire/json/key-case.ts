/** Plain data with its member names in the wire's case. Values are left as they are. */
export function snakeKeys(value: unknown): Record<string, unknown> {
  return renameKeys(value) as Record<string, unknown>
}

function renameKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renameKeys)
  if (typeof value !== 'object' || value === null) return value
  const renamed: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) renamed[toSnake(name)] = renameKeys(member)
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
