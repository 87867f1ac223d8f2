import type { KeyView } from '../../../src/law/model/view.ts'

/** How much of a view a decision looked at. */
export interface Looks {
  /** By member: how often it was read or called, and how many items it listed. */
  readonly byMember: Record<string, number>
}

/** The same view, with every read, every call and every listed item counted. */
export function countLooks(view: KeyView): { readonly view: KeyView; readonly looks: Looks } {
  const looks: Looks = { byMember: {} }
  const count = (member: string, by: number): void => {
    looks.byMember[member] = (looks.byMember[member] ?? 0) + by
  }
  const counted = new Proxy(view, {
    get(target, member: keyof KeyView) {
      count(member, 1)
      const value: unknown = target[member]
      if (typeof value !== 'function') return listed(value, (items) => count(member, items))
      return (...args: unknown[]) => {
        const result: unknown = Reflect.apply(value, target, args)
        return listed(result, (items) => count(member, items))
      }
    },
  })
  return { view: counted, looks }
}

/** Lists are counted when they are handed out, whether or not the law walks them to their end. */
function listed(value: unknown, count: (items: number) => void): unknown {
  const isList = typeof value === 'object' && value !== null && Symbol.iterator in value
  if (!isList) return value
  const items = [...(value as Iterable<unknown>)]
  count(items.length)
  return items
}
