export interface KeptItem<Item> {
  readonly item: Item
  /** It is not among the newest any more. The item is as it was when it was last seen. */
  readonly isGone: boolean
}

/**
 * Shows the newest state of the items that were there, each at its place, and then those that have come. So no item
 * moves under a pointer, not even when one above it has gone. Without a held order it is that of the newest.
 */
export function keepOrder<Item>(
  held: readonly Item[] | undefined,
  newest: readonly Item[],
  readKey: (item: Item) => string,
): readonly KeptItem<Item>[] {
  const byKey = new Map(newest.map((item) => [readKey(item), item]))
  const kept = (held ?? []).map((item) => {
    const now = byKey.get(readKey(item))
    byKey.delete(readKey(item))
    return { item: now ?? item, isGone: now === undefined }
  })
  return [...kept, ...[...byKey.values()].map((item) => ({ item, isGone: false }))]
}
