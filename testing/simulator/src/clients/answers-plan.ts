/** Draws how the services of a saga answer: with values that fit anywhere, or with such as some requests cannot carry. */
import type { Random } from '../world/random.ts'

/** Each list has a place for each branch. */
export interface AnswersPlan {
  readonly kinds: readonly AnswerKind[]
  /** A repeated call is answered with a new value, as by a service that does not keep its answers. */
  readonly isNew: readonly boolean[]
}

/**
 * `silent`: the answer has no value. `accented` cannot stand in a header, `dots` not in a path, `object` and `null` in
 * neither. `long` is too long for a URL, `huge` also for the headers, and 30 of it for a body. A URL with a `forbidden` one
 * may not be called.
 */
export type AnswerKind =
  | 'number'
  | 'silent'
  | 'accented'
  | 'dots'
  | 'object'
  | 'null'
  | 'long'
  | 'huge'
  | 'forbidden'

const ODD_KINDS: readonly AnswerKind[] = [
  'silent',
  'accented',
  'dots',
  'object',
  'null',
  'long',
  'huge',
  'huge',
  'forbidden',
]
const LONG = 2_100
const HUGE = 9_000
const FORBIDDEN = 'forbidden'

export function drawAnswers(random: Random, count: number): AnswersPlan {
  const isOdd = random.chance(0.4)
  const drawOdd = () => ODD_KINDS[random.between(0, ODD_KINDS.length - 1)] ?? 'silent'
  const drawKind = () => (isOdd && random.chance(0.5) ? drawOdd() : random.chance(0.1) ? 'silent' : 'number')
  return {
    kinds: Array.from({ length: count }, drawKind),
    isNew: Array.from({ length: count }, () => random.chance(0.5)),
  }
}

/** Writes the value of an answer as JSON. Returns undefined for an answer without one. */
export function writeValue(kind: AnswerKind, number: number): string | undefined {
  switch (kind) {
    case 'silent':
      return undefined
    case 'number':
      // The zero at the end is lost if the value is parsed and written again.
      return `${number}.10`
    case 'accented':
      return `"no ${number}/é"`
    case 'dots':
      return '".."'
    case 'object':
      return `{"n":${number}.10}`
    case 'null':
      return 'null'
    case 'long':
      return `"${number}${'x'.repeat(LONG)}"`
    case 'huge':
      return `"${number}${'x'.repeat(HUGE)}"`
    case 'forbidden':
      return `"${FORBIDDEN}"`
  }
}

/** Tells whether the caller refuses this URL before it sends anything, as it does for one that it cannot read. */
export function isForbidden(url: string): boolean {
  return url.includes(FORBIDDEN)
}
