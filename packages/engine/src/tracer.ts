/**
 * The engine tells a host's tracing what it does through these interfaces. A host without tracing gives none: then the
 * caller's trace is handed on, and nothing else is done.
 */
import type { BranchAnswer, BranchCall, TraceContext, Transaction } from '@counterstep/core'
import type { Gid, Kind } from '@counterstep/protocol'

export interface EngineTracer {
  /** A submit has come. `caller` is its caller's place in a trace. */
  startAccept(submitted: SubmittedTransaction, caller: TraceContext | undefined): AcceptSpan
  /**
   * This node begins to run a transaction. `claimMs` is how long its claim took; absent: it was accepted here. Undefined is returned
   * where the trace is not recorded: then the stored trace is handed on, and nothing else is done.
   */
  startRun(transaction: Transaction, claimMs: number | undefined): RunSpan | undefined
}

export interface SubmittedTransaction {
  readonly gid: Gid
  readonly kind: Kind
  readonly name?: string | undefined
}

export interface AcceptSpan {
  /** It is stored with the transaction, so that whatever node runs it later goes on in the same trace. */
  readonly trace: TraceContext | undefined
  /** Without an error the transaction is stored. */
  end(error?: unknown): void
}

/** It spans the time in which one node holds a transaction. */
export interface RunSpan {
  /** The lines of the log carry it. */
  readonly trace: TraceContext | undefined
  startCall(call: BranchCall): CallSpan
  startSave(): SaveSpan
  /** The node has ended the transaction, has given it back, or has lost it. */
  end(transaction: Transaction, how: string): void
}

export interface CallSpan {
  /** The service goes on in the trace from here. */
  readonly trace: TraceContext | undefined
  /** Makes the span current while the call is made. */
  run<Result>(send: () => Result): Result
  /** Undefined: a bug has ended the call. */
  end(answer: BranchAnswer | undefined): void
}

export interface SaveSpan {
  /** `result` is that of the store, or `failed`. */
  end(result: string): void
}
