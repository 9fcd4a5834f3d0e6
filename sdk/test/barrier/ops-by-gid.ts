interface EffectRow {
  readonly gid: unknown
  readonly op: unknown
}

/** These are the ops of each of these gids, in the order of the rows. */
export function opsByGid(gids: readonly string[], rows: readonly EffectRow[]): string[][] {
  const known = new Map(gids.map((gid): [string, string[]] => [gid, []]))
  for (const { gid, op } of rows) known.get(String(gid))?.push(String(op))
  return [...known.values()]
}
