import { nextTurn } from '../workflow/next-turn.ts'

/** A test may have replaced the clock by one that stands still. */
const TURNS_MAX = 10_000

/** Resolves when the clock of the process has moved, so that code which reads it gets another time. */
export async function waitForClock(): Promise<void> {
  const before = Date.now()
  for (let turns = 0; turns < TURNS_MAX && Date.now() === before; turns++) await nextTurn()
}
