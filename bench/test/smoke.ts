import { DEFAULT_SETTINGS, type Settings } from '../src/settings.ts'

/**
 * A scenario from its start to its audit, with a short load, since no smoke looks at a time; but not so short that a busy
 * machine answers nothing within it, of which there is no ratio.
 */
export const SMOKE: Settings = {
  ...DEFAULT_SETTINGS,
  seconds: 0.2,
  warmUpSeconds: 0.05,
  connections: 4,
  rounds: 1,
}
export const SMOKE_MS_MAX = 60_000
export const silent = { show: () => undefined, clear: () => undefined }
