import { DEFAULT_SETTINGS, type EngineSettings } from '@counterstep/engine'
import { refuseUnknown } from './known-options.ts'

/** Throws a TypeError or a RangeError that names the setting. What is undefined has its default. */
export function engineSettings(given: Partial<EngineSettings> = {}): EngineSettings {
  refuseUnknown('counterstep settings', given, Object.keys(DEFAULT_SETTINGS))
  const defined = Object.entries(given).filter(([, value]) => value !== undefined)
  const settings: EngineSettings = { ...DEFAULT_SETTINGS, ...Object.fromEntries(defined) }
  const { retry, retentionMs, holdMs, checkpointMs, ...positive } = settings
  for (const [name, value] of Object.entries(positive)) requireWhole(name, value, 1)
  for (const [name, value] of Object.entries({ holdMs, checkpointMs })) requireWhole(name, value, 0)
  if (retentionMs !== 'never') requireWhole('retentionMs', retentionMs, 1)
  if (settings.pollMs > settings.leaseMs) throw new RangeError('counterstep settings: pollMs is over leaseMs')
  if (retry.initialMs > retry.capMs)
    throw new RangeError('counterstep settings: retry.initialMs is over retry.capMs')
  return settings
}

function requireWhole(name: string, value: unknown, least: number): void {
  if (Number.isSafeInteger(value) && Number(value) >= least) return
  throw new RangeError(`counterstep settings.${name} must be a whole number from ${least} on`)
}
