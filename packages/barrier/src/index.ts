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
