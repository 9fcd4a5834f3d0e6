import type { Settings } from '../settings.ts'

/** Returns the flags that make a process write a CPU profile, if the settings ask for one. */
export function profileArgs({ cpuProf }: Pick<Settings, 'cpuProf'>): readonly string[] {
  return cpuProf === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProf}`]
}
