import type { TransactionView } from '@counterstep/protocol'
import type { LaneBars } from './bars.ts'

/** Lists every instant that the time line of a transaction shows. Of a workflow it shows the generation in hand. */
export function listInstants(
  view: TransactionView,
  lanes: readonly LaneBars[],
  now: number,
): readonly number[] {
  const ends = lanes.flatMap(({ bars }) => bars.flatMap(({ from, to }) => [from, to]))
  const turned = view.abort === undefined ? [] : [view.abort.at]
  const next = lanes.flatMap(({ nextAt }) => (nextAt === undefined || nextAt < now ? [] : [nextAt]))
  return [view.workflow?.generationAt ?? view.createdAt, ...ends, ...turned, ...next, now]
}
