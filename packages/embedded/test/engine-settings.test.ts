import { DEFAULT_SETTINGS, type EngineSettings } from '@counterstep/engine'
import { describe, expect, it } from 'vitest'
import { readEngineSettings } from '../src/engine-settings.ts'

const { retry } = DEFAULT_SETTINGS

describe("the engine's settings", () => {
  const taken: readonly Partial<EngineSettings>[] = [
    {},
    { claimLimit: 1 },
    { claimLimit: 100 },
    { retentionMs: 60_000 },
    { retentionMs: 'never' },
    { leaseMs: 1_000, pollMs: 10 },
    { holdMs: 0, checkpointMs: 0 },
    { checkpointMs: 60_000 },
    { branchTimeoutMs: 900_000 },
    { inFlightMax: 10_000_000 },
    { targetShare: 0.05, targetCallsPerSecond: null, parkAfterMs: 'never' },
    { targetShare: 1, targetCallsPerSecond: 1, parkAfterMs: 3_600_000 },
    { acceptNewKinds: true },
    { timeoutMsMax: 10_000, branchTimeoutMs: 10_000, retryFloorMs: 1_000 },
    { retry: { initialMs: 1, factor: 1.5, capMs: 1, jitter: 0.5, limit: 1 } },
    { retry: { ...retry, capMs: 24 * 3_600_000, factor: 100, jitter: 0, limit: 1_000_000 } },
  ]
  for (const settings of taken) {
    it(`The engine settings ${JSON.stringify(settings)} are accepted`, () => {
      expect(readEngineSettings(settings)).toEqual({ ...DEFAULT_SETTINGS, ...settings })
    })
  }

  const refused: readonly (readonly [settings: object, message: string])[] = [
    [{ claimLimit: 101 }, 'claimLimit must be a whole number from 1 to 100'],
    [{ retentionMs: 59_999 }, 'retentionMs must be a whole number from 60000 to 315360000000'],
    [{ retentionMs: 'ever' }, 'retentionMs must be a whole number'],
    [{ leaseMs: 999, pollMs: 10 }, 'leaseMs must be a whole number from 1000 to 3600000'],
    [{ leaseMs: 'never' }, 'leaseMs must be a whole number'],
    [{ pollMs: 9 }, 'pollMs must be a whole number from 10 to 3600000'],
    [{ holdMs: 3_600_001 }, 'holdMs must be a whole number from 0 to 3600000'],
    [{ checkpointMs: 60_001 }, 'checkpointMs must be a whole number from 0 to 60000'],
    [{ branchTimeoutMs: 900_001 }, 'branchTimeoutMs must be a whole number from 1 to 900000'],
    [{ storeTimeoutMs: 99 }, 'storeTimeoutMs must be a whole number from 100 to 3600000'],
    [{ inFlightMax: 0 }, 'inFlightMax must be a whole number from 1 to 10000000'],
    [{ inFlightMax: 1.5 }, 'inFlightMax must be a whole number'],
    [{ hintsMax: 10_000_001 }, 'hintsMax must be a whole number from 1 to 10000000'],
    [{ memoryAckMax: '5' }, 'memoryAckMax must be a whole number'],
    [{ retry: null }, 'retry must be an object'],
    [{ retry: { limit: 3 } }, 'retry.initialMs must be a whole number from 1 to 86400000'],
    [{ retry: { ...retry, initialMs: 0 } }, 'retry.initialMs must be a whole number'],
    [{ retry: { ...retry, factor: 0.5 } }, 'retry.factor must be a number from 1 to 100'],
    [{ retry: { ...retry, factor: Number.NaN } }, 'retry.factor must be a number'],
    [{ retry: { ...retry, capMs: 86_400_001 } }, 'retry.capMs must be a whole number from 1 to 86400000'],
    [{ retry: { ...retry, jitter: 2 } }, 'retry.jitter must be a number from 0 to 1'],
    [{ retry: { ...retry, limit: 0 } }, 'retry.limit must be a whole number from 1 to 1000000'],
    [{ retry: { ...retry, maximum: 3 } }, 'settings.retry has no option maximum'],
    [{ retry: { ...retry, initialMs: 60_001 } }, 'retry.initialMs is over retry.capMs'],
    [{ pollMs: 10_001 }, 'pollMs is over leaseMs'],
    [{ targetShare: 0 }, 'targetShare must be a number from 0.05 to 1'],
    [{ targetCallsPerSecond: 'off' }, 'targetCallsPerSecond must be a whole number from 1 to 1000000'],
    [{ timeoutMsMax: 900_001 }, 'timeoutMsMax must be a whole number from 10000 to 900000'],
    [{ timeoutMsMax: 10_000, branchTimeoutMs: 10_001 }, 'branchTimeoutMs is over timeoutMsMax'],
    [{ retryFloorMs: 999 }, 'retryFloorMs must be a whole number from 1000 to 3600000'],
    [{ acceptNewKinds: 'true' }, 'acceptNewKinds must be true or false'],
    [{ parkAfterMs: null }, 'parkAfterMs must be a whole number'],
  ]
  for (const [settings, message] of refused) {
    it(`The engine settings ${JSON.stringify(settings)} are refused`, () => {
      expect(() => readEngineSettings(settings)).toThrow(message)
    })
  }
})
