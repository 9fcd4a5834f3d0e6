import { type EngineSettings, retentionWarnings } from '@counterstep/engine'
import { ENGINE_SETTINGS } from './engine-settings.ts'
import type { ValuesOf } from './read-values.ts'
import type { Spelling } from './spelling.ts'

type EngineValues = ValuesOf<typeof ENGINE_SETTINGS>
type BulkheadSettings = Pick<
  EngineSettings,
  'targetShare' | 'targetCallsPerSecond' | 'timeoutMsMax' | 'retryFloorMs' | 'parkAfterMs'
>
type RetryValues = Pick<
  EngineValues,
  'retryInitialMs' | 'retryFactor' | 'retryCapMs' | 'retryJitter' | 'retryLimit'
>

export function engineSettings(values: EngineValues): EngineSettings {
  return Object.freeze({
    inFlightMax: values.inFlightMax,
    leaseMs: values.leaseMs,
    pollMs: values.pollMs,
    holdMs: values.holdMs,
    checkpointMs: values.checkpointMs,
    retentionMs: values.retentionMs,
    branchTimeoutMs: values.branchTimeoutMs,
    retry: retryPolicy(values),
    storeTimeoutMs: values.storeTimeoutMs,
    waitersMax: values.waitersMax,
    claimLimit: values.claimLimit,
    recoveryInFlightMax: values.recoveryInFlightMax,
    callsInFlightMax: values.callsInFlightMax,
    ...bulkheadSettings(values),
    hintsMax: values.hintsMax,
    memoryAckMax: values.memoryAckMax,
    scansAtOnceMax: values.scansAtOnceMax,
    readsAtOnceMax: values.readsAtOnceMax,
    readsWaitingMax: values.readsWaitingMax,
    readWaitMs: values.readWaitMs,
  })
}

/** What keeps one target, or one caller's wishes, from taking what the others need. */
export function bulkheadSettings(values: Pick<EngineValues, keyof BulkheadSettings>): BulkheadSettings {
  const { targetShare, targetCallsPerSecond, timeoutMsMax, retryFloorMs, parkAfterMs } = values
  return { targetShare, targetCallsPerSecond, timeoutMsMax, retryFloorMs, parkAfterMs }
}

export function retryPolicy(values: RetryValues): EngineSettings['retry'] {
  return Object.freeze({
    initialMs: values.retryInitialMs,
    factor: values.retryFactor,
    capMs: values.retryCapMs,
    jitter: values.retryJitter,
    limit: values.retryLimit,
  })
}

/** Rules between settings, each checked when both sides are known. */
export function engineProblems(values: Partial<EngineValues>, spell: Spelling): string[] {
  const problems: string[] = []
  const { retryInitialMs, retryCapMs, pollMs, leaseMs, branchTimeoutMs, timeoutMsMax } = values
  const nameOf = (name: keyof EngineValues) => spell(ENGINE_SETTINGS[name])
  if (retryInitialMs !== undefined && retryCapMs !== undefined && retryInitialMs > retryCapMs) {
    problems.push(
      `${nameOf('retryInitialMs')} (${retryInitialMs}) must not be over ${nameOf('retryCapMs')} (${retryCapMs}).`,
    )
  }
  if (pollMs !== undefined && leaseMs !== undefined && pollMs > leaseMs) {
    problems.push(`${nameOf('pollMs')} (${pollMs}) must not be over ${nameOf('leaseMs')} (${leaseMs}).`)
  }
  if (branchTimeoutMs !== undefined && timeoutMsMax !== undefined && branchTimeoutMs > timeoutMsMax) {
    problems.push(
      `${nameOf('branchTimeoutMs')} (${branchTimeoutMs}) must not be over ${nameOf('timeoutMsMax')} (${timeoutMsMax}).`,
    )
  }
  return problems
}

export function engineWarnings(
  values: Pick<EngineValues, 'retentionMs'>,
  spell: Spelling,
): readonly string[] {
  return retentionWarnings(values, spell(ENGINE_SETTINGS.retentionMs))
}
