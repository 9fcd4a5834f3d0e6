import type { JsonValue, Reference, SagaBranchRequest } from '@counterstep/protocol'
import { type RefValue, readRef } from './ref.ts'

/** When a timer is over: so long after it opened, or at an instant. */
export type Timer =
  | { readonly ms: number | RefValue<number>; readonly until?: never }
  | { readonly until: number | string | Date | RefValue<number | string>; readonly ms?: never }

export interface SignalWait {
  /** How long it waits for the signal, up to 30 days. The default is the time that the saga has left. */
  readonly timeoutMs?: number
  /** What happens then: the saga is undone (`abort`, the default), or goes on without an answer (`continue`). */
  readonly onTimeout?: 'abort' | 'continue'
}

/** Writes a timer as the wire has it. */
export function writeTimer({ ms, until }: Timer): SagaBranchRequest {
  const instant = until instanceof Date ? until.toISOString() : until
  return writeWait({ ...writeField('ms', ms), ...writeField('until', instant) })
}

/** Writes a wait for a signal as the wire has it. */
export function writeSignalWait(signal: string, { timeoutMs, onTimeout }: SignalWait): SagaBranchRequest {
  return writeWait({
    signal,
    ...writeField('timeoutMs', timeoutMs),
    ...writeField('onTimeout', onTimeout),
  })
}

function writeField(name: string, value: unknown): Readonly<Record<string, JsonValue | Reference>> {
  if (value === undefined) return {}
  return { [name]: readRef(value) ?? (value as JsonValue) }
}

function writeWait(wait: Readonly<Record<string, JsonValue | Reference>>): SagaBranchRequest {
  return { wait } as unknown as SagaBranchRequest
}
