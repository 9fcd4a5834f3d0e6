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
  findOriginOp,
  findUndoOp,
  mustRollBack,
  QUERY_BACK_ROW,
} from './decide-barrier.ts'
export type { ReuseDecision } from './decide-reuse.ts'
export { decideReuse } from './decide-reuse.ts'
export type { RowInstants } from './row-instants.ts'
export { computeRowInstants, isOfOtherTransaction } from './row-instants.ts'
