import type { EngineHealth } from './engine-api.ts'
import type { ObservedStore } from './observed-store.ts'
import type { EngineSettings } from './settings.ts'

export interface NodeLoad extends Pick<EngineHealth, 'inFlight' | 'targetsAtShare'> {
  readonly isStopping: boolean
}

export function healthOf(
  { name, durabilityClass, failover, isAvailable }: ObservedStore,
  { inFlightMax }: EngineSettings,
  { isStopping, inFlight, targetsAtShare }: NodeLoad,
): EngineHealth {
  return {
    ready: !isStopping && isAvailable,
    ...(isStopping ? { reason: 'stopping' } : isAvailable ? {} : { reason: 'store-unavailable' }),
    store: { name, durabilityClass, failover },
    inFlight,
    inFlightMax,
    targetsAtShare,
  }
}
