import type { Report } from './report.ts'

const LOAD_PER_CORE_MAX = 0.5
const CAUTION = /^CAUTION:\s*/

/** Lists what spoils these figures, a sentence each. */
export function listCautions({ machine, settings, notes }: Report): readonly string[] {
  const { isMemoryDisk, loadPerCore } = machine
  return [
    ...(isMemoryDisk ? ['the data lies in memory; a flush costs nothing here'] : []),
    ...(loadPerCore > LOAD_PER_CORE_MAX
      ? [`the machine was busy before the run (load ${loadPerCore} a core)`]
      : []),
    ...(settings.cpuProf === undefined ? [] : ['the server was profiled, which slows it down']),
    ...notes.filter((note) => CAUTION.test(note)).map((note) => note.replace(CAUTION, '')),
  ]
}

/** The other notes. */
export function listPlainNotes({ notes }: Report): readonly string[] {
  return notes.filter((note) => !CAUTION.test(note))
}
