/** Finds the one after this gid, around the end. A gid that is not among them comes before the first. Undefined: there is no other. */
export function findNext(gids: readonly string[], gid: string): string | undefined {
  const next = gids[(gids.indexOf(gid) + 1) % gids.length]
  return next === gid ? undefined : next
}
