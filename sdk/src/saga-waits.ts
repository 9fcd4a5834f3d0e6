import type { Reference, SagaWaitRequest } from '@counterstep/protocol'
import { type RefValue, readRef } from './ref.ts'

/** When a timer is over: so long after it opened, or at an instant. */
export type Timer =
  | { readonly ms: number | RefValue<number>; readonly until?: never }
  | { readonly until: number | string | Date | RefValue<number | string>; readonly ms?: never }

export interface SignalWait {
  /** The signal may take so long, up to 30 days. The default is what is left of 30 days from the accept. */
  readonly timeoutMs?: number
  /** After that time the saga is undone (`abort`, the default), or goes on without an answer (`continue`). */
  readonly onTimeout?: 'abort' | 'continue'
}

/** Writes a timer as the wire has it. */
export function writeTimer({ ms, until }: Timer): Pick<SagaWaitRequest, 'wait'> {
  if (ms !== undefined) return { wait: { ms: readPlain(ms) } }
  return { wait: { until: until instanceof Date ? until.toISOString() : readPlain(until) } }
}

/** Writes a wait for a signal as the wire has it. */
export function writeSignalWait(signal: string, wait: SignalWait): Pick<SagaWaitRequest, 'wait'> {
  return { wait: { signal, ...wait } }
}

function readPlain<Plain>(value: Plain | RefValue<unknown>): Plain | Reference {
  return readRef(value) ?? (value as Plain)
}
