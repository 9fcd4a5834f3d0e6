export { type CheckReport, checkOldDtm, type Tally } from './check-old-dtm.ts'
export type { CheckRules } from './judge-transaction.ts'
export type { GetJson } from './old-dtm.ts'
