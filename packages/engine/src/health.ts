import type { EngineHealth } from './engine-api.ts'
import type { ObservedStore } from './observed-store.ts'
import type { EngineSettings } from './settings.ts'

export interface NodeLoad extends Pick<EngineHealth, 'inFlight' | 'targetsAtShare'> {
  readonly isStopping: boolean
}

export function readHealth(
  { name, durabilityClass, failover, isAvailable, isShortOfRoom = false, tellsCommands }: ObservedStore,
  { inFlightMax }: EngineSettings,
  { isStopping, inFlight, targetsAtShare }: NodeLoad,
): EngineHealth {
  const reason = isStopping
    ? 'stopping'
    : isAvailable
      ? isShortOfRoom
        ? 'store-full'
        : undefined
      : 'store-unavailable'
  return {
    ready: reason === undefined,
    ...(reason === undefined ? {} : { reason }),
    store: {
      ...{ name, durabilityClass, failover },
      ...(tellsCommands !== undefined && { commands: tellsCommands ? 'at-once' : 'at-renewal' }),
    },
    inFlight,
    inFlightMax,
    targetsAtShare,
  }
}
