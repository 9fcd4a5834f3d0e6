import type { Gate, Guard, RequestHead } from '@counterstep/access'
import { BODY_BYTES_MAX } from '@counterstep/protocol'
import type { Metadata, ServerInterceptingCallInterface, ServerInterceptor } from '@grpc/grpc-js'
import { boundMessages } from './bound-messages.ts'
import type { CallConnection, Connections } from './connections.ts'
import type { Libraries } from './load-libraries.ts'
import { findAccess, type MethodAccess } from './method-access.ts'
import { KEYED_BOUNDS, OPEN_BOUNDS, ReceiveTurns, type Turn } from './receive-turns.ts'
import { buildStatus, type CallStatus, CODES, toErrorStatus } from './to-status.ts'

/** Describes a call that has passed the gate. */
export interface Admitted {
  readonly head: RequestHead
  /** The name of its caller: the id of a key, or a network. */
  readonly caller: string
  readonly connection: CallConnection
}

/** Calls of one connection that were refused may go on sending. It ends after this time if it has shown no good key. */
const STRANGER_MS_MAX = 1_000

const ENDED = buildStatus(CODES.UNAVAILABLE, 'the connection has ended')
const NO_CALL = buildStatus(CODES.UNAVAILABLE, 'no such call')
const NO_BOUNDS = buildStatus(CODES.INTERNAL, 'this version of @grpc/grpc-js bounds no messages')
/** A call of a method that takes one message. */
const ONE_MESSAGE = { messagesMax: 1, atOnceMax: 1 }
/** A call of a method that takes a stream. */
const STREAM_BOUNDS = { messagesMax: 1_000, atOnceMax: 8 }

/** Lets a call's message be received only once the head of the call has passed the gate. */
export class CallGuard {
  readonly #grpc: Libraries['grpc']
  readonly #gate: Gate
  readonly #connections: Connections
  readonly #turns = new ReceiveTurns(KEYED_BOUNDS)
  /** Calls that need no key never take a turn of those that need one. */
  readonly #openTurns = new ReceiveTurns(OPEN_BOUNDS)
  readonly #guards = new Map<MethodAccess, Guard>()
  /** These count what a call stores, when the bytes of its message are known. */
  readonly #storingGuards = new Map<MethodAccess, Guard>()
  readonly #admitted = new WeakMap<Metadata, Admitted>()

  constructor({ grpc }: Libraries, gate: Gate, connections: Connections) {
    this.#grpc = grpc
    this.#gate = gate
    this.#connections = connections
  }

  /** Returns the call whose metadata this is. Every call that a method serves has been admitted. */
  find(metadata: Metadata): Admitted {
    const admitted = this.#admitted.get(metadata)
    if (admitted === undefined) throw new Error('a call that no guard has seen')
    return admitted
  }

  /**
   * Counts what the call stores for the quota of its key, once the bytes of its message are known. The key is asked for once
   * more, so that such a call counts twice for the rate of its key.
   */
  countStored({ head }: Admitted, access: MethodAccess, bytes: number): RequestHead {
    const counted = { ...head, headers: { ...head.headers, 'content-length': String(bytes) } }
    const verdict = this.#findGuard(access, access.stores)(counted)
    if (verdict instanceof Error) throw verdict
    return counted
  }

  /** It is the first that sees a call. */
  readonly intercept: ServerInterceptor = (method, call) => {
    let turn: Turn | undefined
    const { ServerInterceptingCall } = this.#grpc
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, receive) => {
            const access = findAccess(method.path)
            const refusal = this.#admit(access, call, metadata)
            if (access === undefined || refusal !== undefined) {
              call.sendStatus(refusal ?? NO_CALL)
              return
            }
            const bounds = method.requestStream ? STREAM_BOUNDS : ONE_MESSAGE
            if (!boundMessages(call, { ...bounds, bytesMax: access.messageBytesMax ?? BODY_BYTES_MAX })) {
              call.sendStatus(NO_BOUNDS)
              return
            }
            const late = buildStatus(CODES.DEADLINE_EXCEEDED, 'the message came too slowly')
            const turns = access.access === 'open' ? this.#openTurns : this.#turns
            turn = turns.take(
              this.find(metadata).caller,
              () => receive(metadata),
              () => call.sendStatus(late),
            )
            if (turn === undefined)
              call.sendStatus(buildStatus(CODES.RESOURCE_EXHAUSTED, 'too many calls wait to be received'))
          },
          onReceiveMessage: (message, receive) => {
            // A call of one message may begin another one, which the library holds until it is whole.
            if (method.requestStream) turn?.end()
            receive(message)
          },
          onReceiveHalfClose: (receive) => {
            turn?.end()
            receive()
          },
          onCancel: () => turn?.end(),
        }),
      sendStatus: (status, send) => {
        turn?.end()
        send(status)
      },
    })
  }

  #admit(
    access: MethodAccess | undefined,
    call: ServerInterceptingCallInterface,
    metadata: Metadata,
  ): CallStatus | undefined {
    const connection = this.#connections.find()
    if (connection === undefined || access === undefined) return NO_CALL
    const head = readHead(metadata, call.getHost(), connection.socket.remoteAddress)
    const verdict = this.#findGuard(access)(head)
    if (
      (verdict instanceof Error || access.access === 'open') &&
      !this.#connections.countStrangerCall(connection)
    )
      return ENDED
    if (verdict instanceof Error) {
      setTimeout(() => this.#connections.endStranger(connection), STRANGER_MS_MAX).unref()
      return toErrorStatus(verdict, () => undefined)
    }
    if (verdict === undefined && access.access !== 'open') this.#connections.acquaint(connection)
    const caller =
      verdict === undefined ? connection.network : this.#connections.trust(connection, verdict, this.#gate)
    if (caller === undefined) return ENDED
    this.#admitted.set(metadata, { head, caller, connection })
    return undefined
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

const GUARDED_HEADERS = [
  'authorization',
  'origin',
  'referer',
  'sec-fetch-site',
  'traceparent',
  'tracestate',
] as const

/** Describes a call as a request over HTTP/2. */
function readHead(metadata: Metadata, host: string, remoteAddress: string | undefined): RequestHead {
  const headers = GUARDED_HEADERS.flatMap((name) => {
    const [value] = metadata.get(name)
    return value === undefined ? [] : [[name, String(value)]]
  })
  return {
    method: 'POST',
    headers: { ...Object.fromEntries(headers), ...(host === '' ? {} : { ':authority': host }) },
    socket: { remoteAddress },
  }
}
