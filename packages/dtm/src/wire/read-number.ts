import { refuse } from './answer.ts'

/** A number of a query, in DTM's words when it is none. */
export function readNumber(text: string, ifMissing: number): number {
  if (text === '') return ifMissing
  if (!/^[+-]?\d{1,15}$/.test(text)) throw badNumber(text)
  return Number(text)
}

export function badNumber(text: string) {
  return refuse(`convert to int error: ${text}`)
}
