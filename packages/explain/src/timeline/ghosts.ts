import type { TransactionView } from '@counterstep/protocol'
import { toLaneBars } from './bars.ts'

/** Where the same op of another transaction would lie, had both been accepted at one instant. */
export interface Ghost {
  readonly from: number
  readonly to: number
}

/** Lays the ops of another transaction beside one that was accepted at `createdAt`, by the ids of their lanes. */
export function toGhosts(other: TransactionView, createdAt: number): ReadonlyMap<string, Ghost> {
  const shift = createdAt - other.createdAt
  const end = other.finishedAt ?? other.updatedAt
  const ghosts = new Map<string, Ghost>()
  for (const { lane, bars } of toLaneBars(other, end)) {
    const [first, last] = [bars[0], bars.at(-1)]
    if (first !== undefined && last !== undefined)
      ghosts.set(lane.id, { from: first.from + shift, to: last.to + shift })
  }
  return ghosts
}
