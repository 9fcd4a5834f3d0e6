/** Reads and writes the regressions: the seeds that once failed, with their reductions. They always run first. */
import { appendFileSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { formatSeed, parseSeed, type ReducedSeed } from './reduction.ts'

export interface Regression extends ReducedSeed {
  /** A note about the failure. */
  readonly note: string
}

export const REGRESSIONS_FILE = fileURLToPath(new URL('../../seeds.regress.txt', import.meta.url))

/** Reads one seed from each line. The text after a `#` is for people. */
export function readRegressions(file = REGRESSIONS_FILE): Regression[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [seed = '', ...note] = line.split('#')
      return { ...parseSeed(seed), note: note.join('#').trim() }
    })
}

/** Adds a regression unless it is there already, and returns its line. */
export function keepRegression({ seed, reduction, note }: Regression, file = REGRESSIONS_FILE): string {
  const text = formatSeed({ seed, reduction })
  const isKept = readRegressions(file).some((kept) => formatSeed(kept) === text)
  // A note may repeat a body of several lines.
  const line = `${text} # ${note.replace(/\s+/g, ' ').trim()}`
  if (!isKept) appendFileSync(file, `${line}\n`)
  return line
}
