/** Characters that the patterns here repeat, and the ends that make a match fail at the last moment. */
const PUMPS = [
  ' ',
  '\t',
  '\n',
  '0',
  '1',
  '9',
  'a',
  'Z',
  '.',
  '-',
  '_',
  '/',
  '\\',
  '{',
  '{}',
  '"',
  ';',
  '=',
  ',',
  '@',
  ':',
  '*',
  "'",
  '%',
  '\u0000',
  'ä',
  '; ',
  '1 ',
  '1.',
  'a.',
  '0e',
  '{ ',
]
const HEADS = [
  '',
  '{',
  '[',
  ';',
  '//',
  '-',
  '1',
  ' ',
  'http://',
  '; charset=',
  'application/json',
  '1 1 1 ',
  'MOVED 1 ',
  '/*rows a*/',
  '.',
]
const ENDS = ['', '!', '\u0001', '}x']
const REPEATS_MIN = 3

export interface Slowest {
  readonly tookMs: number
  readonly text: string
}

/** The text of that length on which it takes longest; of each text the shortest of a few times, since a machine is shared. */
export function slowestText(regex: RegExp, length: number, hurryMs: number): Slowest {
  let slowest: Slowest = { tookMs: 0, text: '' }
  for (const text of getTexts(length)) {
    const tookMs = shortestTime(regex, text, hurryMs)
    if (tookMs > slowest.tookMs) slowest = { tookMs, text: shown(text) }
    if (tookMs > hurryMs) return slowest
  }
  return slowest
}

function shortestTime(regex: RegExp, text: string, hurryMs: number): number {
  let shortest = Number.POSITIVE_INFINITY
  for (let repeat = 0; repeat < REPEATS_MIN && shortest > hurryMs; repeat += 1) {
    regex.lastIndex = 0
    const startedAt = performance.now()
    regex.test(text)
    shortest = Math.min(shortest, performance.now() - startedAt)
  }
  return shortest
}

const texts = new Map<number, readonly string[]>()

function getTexts(length: number): readonly string[] {
  const known = texts.get(length)
  if (known !== undefined) return known
  const made = PUMPS.flatMap((pump) =>
    HEADS.flatMap((head) => ENDS.map((end) => head + pump.repeat(Math.ceil(length / pump.length)) + end)),
  )
  texts.set(length, made)
  return made
}

function shown(text: string): string {
  return `${JSON.stringify(text.slice(0, 24))}… (${text.length})`
}
