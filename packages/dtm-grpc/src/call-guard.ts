import type { IncomingHttpHeaders } from 'node:http2'
import type { Gate, Guard, RequestHead } from '@counterstep/access'
import { readTraceContext } from '@counterstep/dtm/commands'
import { CallError } from './call-error.ts'
import type { CallConnection, Connections } from './connections.ts'
import type { GrpcCall } from './grpc-call.ts'
import type { MethodAccess } from './method-access.ts'
import { KEYED_BOUNDS, OPEN_BOUNDS, ReceiveTurns, type Turn } from './receive-turns.ts'
import { buildStatus, CODES, toErrorStatus } from './to-status.ts'

/** Describes a call that has passed the gate. */
export interface Admitted {
  /** It has what is still needed of the call's own. */
  readonly head: RequestHead
  /** The name of its caller: the id of a key, or a network. */
  readonly caller: string
  readonly connection: CallConnection
}

/** Calls of one connection that were refused may go on sending. It ends after this time if it has shown no good key. */
const STRANGER_MS_MAX = 1_000

const TOO_MANY_OPEN = buildStatus(
  CODES.RESOURCE_EXHAUSTED,
  'too many calls of this connection have not ended',
)
const ENDED = buildStatus(CODES.UNAVAILABLE, 'the connection has ended')

/** Lets a call's messages be received only once the head of the call has passed the gate. */
export class CallGuard {
  readonly #gate: Gate
  readonly #connections: Connections
  readonly #turns = new ReceiveTurns(KEYED_BOUNDS)
  /** Calls that need no key never take a turn of those that need one. */
  readonly #openTurns = new ReceiveTurns(OPEN_BOUNDS)
  readonly #guards = new Map<MethodAccess, Guard>()
  /** These count what a call stores, when the bytes of its message are known. */
  readonly #storingGuards = new Map<MethodAccess, Guard>()

  constructor(gate: Gate, connections: Connections) {
    this.#gate = gate
    this.#connections = connections
  }

  /** Counts a call that is refused without a look at its key. Returns false if the connection had to end. */
  countRefused(): boolean {
    const connection = this.#connections.find()
    return connection !== undefined && this.#connections.countStrangerCall(connection)
  }

  /** Asks the gate for a call whose head has just come. Throws a CallError if it is refused. */
  admit(call: GrpcCall, headers: IncomingHttpHeaders, access: MethodAccess): Admitted {
    const connection = this.#connections.find()
    if (connection === undefined) throw new CallError(ENDED)
    const head = readHead(headers, connection.socket.remoteAddress)
    const verdict = this.#findGuard(access)(head)
    const isRefused = verdict instanceof Error
    if ((isRefused || access.access === 'open') && !this.#connections.countStrangerCall(connection))
      throw new CallError(ENDED)
    if (access.access === 'open' && !this.#connections.holdOpenCall(connection, call))
      throw new CallError(TOO_MANY_OPEN)
    if (isRefused) {
      setTimeout(() => this.#connections.endStranger(connection), STRANGER_MS_MAX).unref()
      throw new CallError(toErrorStatus(verdict, () => undefined))
    }
    if (verdict === undefined && access.access !== 'open') this.#connections.acquaint(connection)
    const caller =
      verdict === undefined ? connection.network : this.#connections.trust(connection, verdict, this.#gate)
    if (caller === undefined) throw new CallError(ENDED)
    return { head: keepNeeded(head, access), caller, connection }
  }

  /** Calls `begin` when it is the call's turn to be received, and `onLate` if it has lost it. Throws a CallError if too many wait. */
  takeTurn({ caller }: Admitted, access: MethodAccess, begin: () => void, onLate: () => void): Turn {
    const turns = access.access === 'open' ? this.#openTurns : this.#turns
    const turn = turns.take(caller, begin, onLate)
    if (turn === undefined)
      throw new CallError(buildStatus(CODES.RESOURCE_EXHAUSTED, 'too many calls wait to be received'))
    return turn
  }

  /** Counts an answer that its caller may not read. */
  holdAnswer({ connection }: Admitted, call: GrpcCall, bytes: number): void {
    this.#connections.holdAnswer(connection, call, bytes)
  }

  /** Calls `begin` when it is the turn of the call's message to be decoded. It is never called if the connection ends before. */
  waitToDecode({ connection }: Admitted, bytes: number, begin: () => void): void {
    this.#connections.waitForMessageTurn(connection, bytes, begin)
  }

  /**
   * Counts what the call stores for the quota of its key, once the bytes of its message are known. The key is asked for once
   * more, so that such a call counts twice for the rate of its key. Throws the refusal.
   */
  countStored({ head }: Admitted, access: MethodAccess, bytes: number): RequestHead {
    const counted = { ...head, headers: { ...head.headers, 'content-length': String(bytes) } }
    const verdict = this.#findGuard(access, access.stores)(counted)
    if (verdict instanceof Error) throw verdict
    return counted
  }

  #findGuard(method: MethodAccess, stores?: MethodAccess['stores']): Guard {
    const guards = stores === undefined ? this.#guards : this.#storingGuards
    const known = guards.get(method)
    if (known !== undefined) return known
    const guard = this.#gate.buildGuard(method.access, true, stores)
    guards.set(method, guard)
    return guard
  }
}

/**
 * Keeps of a head what its call still needs once it has passed: where its trace stands, and the key and the host if the bytes of
 * its message are counted later. A call may wait for a minute, and a head may have 16 KB.
 */
function keepNeeded({ method, headers, socket }: RequestHead, { stores }: MethodAccess): RequestHead {
  const { authorization, ':authority': authority, traceparent, tracestate } = headers
  const trace = readTraceContext(traceparent, tracestate)
  return {
    method,
    headers: {
      ...(trace === undefined ? {} : { traceparent: trace.parent, tracestate: trace.state }),
      ...(stores === undefined ? {} : { authorization, ':authority': authority }),
    },
    socket,
  }
}

const GUARDED_HEADERS = [
  'authorization',
  'origin',
  'referer',
  'sec-fetch-site',
  'traceparent',
  'tracestate',
] as const

/** Describes a call as a request over HTTP/2. Other headers, such as a cookie of the console, mean nothing here. */
function readHead(headers: IncomingHttpHeaders, remoteAddress: string | undefined): RequestHead {
  const guarded = GUARDED_HEADERS.flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, String(value)]]
  })
  const { ':authority': authority = headers.host } = headers
  return {
    method: 'POST',
    headers: {
      ...Object.fromEntries(guarded),
      ...(authority === undefined ? {} : { ':authority': authority }),
    },
    socket: { remoteAddress },
  }
}
