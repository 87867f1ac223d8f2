/**
 * The records of a view with a decision's changes laid over them: first those of the view, then new ones.
 * In `changed` a record that is gone stands as `undefined`.
 */
export function* overlay<Item>(
  before: Iterable<Item>,
  changed: ReadonlyMap<string, Item | undefined>,
  nameOf: (item: Item) => string,
): Iterable<Item> {
  const known = new Set<string>()
  for (const item of before) {
    const name = nameOf(item)
    known.add(name)
    const now = changed.has(name) ? changed.get(name) : item
    if (now !== undefined) yield now
  }
  for (const [name, item] of changed) {
    if (item !== undefined && !known.has(name)) yield item
  }
}
