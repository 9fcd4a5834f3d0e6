import { STATEMENTS } from '../generated/sql.ts'
import { numberParameters } from './number-parameters.ts'

/** Puts the reading of the clock in its place. */
export function withClock(sql: string): string {
  return numberParameters(sql.replace('/*clock*/', () => STATEMENTS.clock))
}
