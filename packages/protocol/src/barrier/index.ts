export type {
  BarrierDecision,
  BarrierFound,
  BarrierReason,
  BarrierRow,
  LocalOutcome,
} from './decide-barrier.ts'
export {
  ALREADY_COMPENSATED,
  barrierRows,
  decideBarrier,
  decideQueryBack,
  mustRollBack,
  originOf,
  QUERY_BACK_ROW,
  undoOf,
} from './decide-barrier.ts'
export type { ReuseDecision } from './decide-reuse.ts'
export { decideReuse } from './decide-reuse.ts'
export type { RowInstants } from './row-instants.ts'
export { isOfOtherTransaction, rowInstants } from './row-instants.ts'
