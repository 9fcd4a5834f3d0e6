export type { BarrierDecision, BarrierFound, BarrierReason, BarrierRow } from './decide-barrier.ts'
export { ALREADY_COMPENSATED, barrierRows, decideBarrier, originOf, undoOf } from './decide-barrier.ts'
