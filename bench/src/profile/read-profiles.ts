import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { CpuProfile } from './cpu-profile.ts'

export interface NamedProfile {
  readonly name: string
  readonly profile: CpuProfile
}

/** What was written to a folder since an instant: a profile for each thread of each profiled process. */
export function readProfiles(folder: string, since: number): readonly NamedProfile[] {
  // A scenario without a server of its own profiles nothing.
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.cpuprofile') && statSync(join(folder, name)).mtimeMs >= since)
    .sort()
    .map((name) => ({ name, profile: JSON.parse(readFileSync(join(folder, name), 'utf8')) }))
}
