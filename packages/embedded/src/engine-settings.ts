import { type Bounds, DEFAULT_SETTINGS, type EngineSettings, SETTINGS_BOUNDS } from '@counterstep/engine'
import { refuseUnknown } from './known-options.ts'

/** A setting may have this value instead of a number, which switches it off. */
const OFF_VALUES: { readonly [Name in keyof EngineSettings]?: EngineSettings[Name] } = {
  retentionMs: 'never',
  parkAfterMs: 'never',
  targetCallsPerSecond: null,
}

/** Checks the settings and adds the defaults. Throws a TypeError or a RangeError that names the wrong setting. */
export function readEngineSettings(given: Partial<EngineSettings> = {}): EngineSettings {
  refuseUnknown('counterstep settings', given, Object.keys(DEFAULT_SETTINGS))
  const defined = Object.entries(given).filter(([, value]) => value !== undefined)
  const settings: EngineSettings = { ...DEFAULT_SETTINGS, ...Object.fromEntries(defined) }
  const { retry: _, targetShare, ...bounds } = SETTINGS_BOUNDS
  requireNumber('targetShare', settings.targetShare, targetShare)
  for (const [name, itsBounds] of Object.entries(bounds) as [keyof typeof bounds, Bounds][]) {
    const value = settings[name]
    if (value !== OFF_VALUES[name]) requireWhole(name, value, itsBounds)
  }
  if (typeof settings.acceptNewKinds !== 'boolean')
    throw new TypeError('counterstep settings.acceptNewKinds must be true or false')
  requireRetry(settings.retry)
  if (settings.pollMs > settings.leaseMs) throw new RangeError('counterstep settings: pollMs is over leaseMs')
  if (settings.branchTimeoutMs > settings.timeoutMsMax)
    throw new RangeError('counterstep settings: branchTimeoutMs is over timeoutMsMax')
  return settings
}

function requireRetry(retry: EngineSettings['retry']): void {
  if (typeof retry !== 'object' || retry === null)
    throw new TypeError('counterstep settings.retry must be an object')
  const bounds = SETTINGS_BOUNDS.retry
  refuseUnknown('counterstep settings.retry', retry, Object.keys(bounds))
  requireWhole('retry.initialMs', retry.initialMs, bounds.initialMs)
  requireNumber('retry.factor', retry.factor, bounds.factor)
  requireWhole('retry.capMs', retry.capMs, bounds.capMs)
  requireNumber('retry.jitter', retry.jitter, bounds.jitter)
  if (retry.limit !== null) requireWhole('retry.limit', retry.limit, bounds.limit)
  if (retry.initialMs > retry.capMs)
    throw new RangeError('counterstep settings: retry.initialMs is over retry.capMs')
}

function requireWhole(name: string, value: unknown, [min, max]: Bounds): void {
  if (Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max) return
  throw new RangeError(`counterstep settings.${name} must be a whole number from ${min} to ${max}`)
}

function requireNumber(name: string, value: unknown, [min, max]: Bounds): void {
  if (typeof value === 'number' && value >= min && value <= max) return
  throw new RangeError(`counterstep settings.${name} must be a number from ${min} to ${max}`)
}
