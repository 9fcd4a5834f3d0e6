export type { Violation } from './auditor.ts'
export { addCounters, type Counters, newCounters, vacuous } from './counters.ts'
export { MUTANTS } from './mutants.ts'
export { type SimulationResult, simulate } from './simulate.ts'
