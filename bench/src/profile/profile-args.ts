import type { Settings } from '../settings.ts'

/** Of a process that is profiled if that was asked for. */
export function profileArgs({ cpuProf }: Pick<Settings, 'cpuProf'>): readonly string[] {
  return cpuProf === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProf}`]
}
