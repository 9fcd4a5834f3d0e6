import { useState } from 'react'

export interface Selection {
  readonly gids: ReadonlySet<string>
  readonly toggle: (gid: string) => void
  readonly set: (gids: Iterable<string>) => void
}

export function useSelection(): Selection {
  const [gids, setGids] = useState<ReadonlySet<string>>(new Set())
  const toggle = (gid: string) =>
    setGids((before) => {
      const after = new Set(before)
      if (!after.delete(gid)) after.add(gid)
      return after
    })
  return { gids, toggle, set: (next) => setGids(new Set(next)) }
}
