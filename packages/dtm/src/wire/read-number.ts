import { refuse } from './answer.ts'
import { cutRepeated } from './cut-repeated.ts'

/** Reads a number from a query. If the text is not a number, it throws with DTM's text. */
export function readNumber(text: string, ifMissing: number): number {
  if (text === '') return ifMissing
  if (!/^[+-]?\d{1,15}$/.test(text)) throw refuseNumber(text)
  return Number(text)
}

export function refuseNumber(text: string) {
  return refuse(`convert to int error: ${cutRepeated(text)}`)
}
