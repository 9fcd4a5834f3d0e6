/** The seeds that once failed, as small as they were made: they run first, for ever. */
import { appendFileSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { formatSeed, parseSeed, type ReducedSeed } from './reduction.ts'

export interface Regression extends ReducedSeed {
  /** What it showed. */
  readonly note: string
}

export const REGRESSIONS_FILE = fileURLToPath(new URL('../../seeds.regress.txt', import.meta.url))

/** One seed a line; what follows a `#` is for people. */
export function readRegressions(file = REGRESSIONS_FILE): Regression[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [seed = '', ...note] = line.split('#')
      return { ...parseSeed(seed), note: note.join('#').trim() }
    })
}

/** Returns its line. One that is there already is not written again. */
export function keepRegression({ seed, reduction, note }: Regression, file = REGRESSIONS_FILE): string {
  const text = formatSeed({ seed, reduction })
  const isKept = readRegressions(file).some((kept) => formatSeed(kept) === text)
  const line = `${text} # ${note}`
  if (!isKept) appendFileSync(file, `${line}\n`)
  return line
}
