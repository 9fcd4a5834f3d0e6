import type { IncomingHttpHeaders } from 'node:http2'
import { BODY_BYTES_MAX } from '@counterstep/protocol'
import { CallError } from './call-error.ts'
import type { Admitted, CallGuard } from './call-guard.ts'
import { type GrpcCall, OK } from './grpc-call.ts'
import type { Method, Methods, TakeMessage } from './method.ts'
import type { Turn } from './receive-turns.ts'
import { buildStatus, CODES } from './to-status.ts'

export interface ServingDeps {
  readonly methods: Methods
  readonly guard: CallGuard
  /** It gets the errors that are bugs. */
  readonly report: (error: unknown) => void
}

const UNSUPPORTED_MEDIA_TYPE = 415
const NO_METHOD = buildStatus(CODES.UNIMPLEMENTED, 'no such method')
const NO_PACKING = buildStatus(CODES.UNIMPLEMENTED, 'messages cannot be packed so')
const NO_MESSAGE = buildStatus(CODES.INTERNAL, 'no message came')
const LATE = buildStatus(CODES.DEADLINE_EXCEEDED, 'the message came too slowly')
const BUG = buildStatus(CODES.INTERNAL, 'an internal error')

/** Serves a call whose head has just come: asks the gate, waits for a turn, receives, and lets the method answer. */
export function serveCall(
  call: GrpcCall,
  headers: IncomingHttpHeaders,
  { methods, guard, report }: ServingDeps,
): void {
  const { path } = call
  const method = methods.get(path ?? '')
  if (method === undefined) {
    if (!guard.countRefused()) return
    if (path === undefined) call.refuse(UNSUPPORTED_MEDIA_TYPE)
    else call.end(NO_METHOD)
    return
  }
  const endFailed = (error: unknown) => {
    // The stream's own errors come after its end.
    if (call.hasEnded) return
    if (!(error instanceof CallError)) report(error)
    call.end(error instanceof CallError ? error.status : BUG)
  }
  try {
    const admitted = guard.admit(call, headers, method.access)
    if (call.packing === null) throw new CallError(NO_PACKING)
    let turn: Turn | undefined
    const begin = () => {
      const endTurn = () => turn?.end()
      receive(call, method, admitted, guard, endTurn).catch(endFailed).finally(endTurn)
    }
    turn = guard.takeTurn(admitted, method.access, begin, () => call.end(LATE))
    call.onClosed(() => turn?.end())
  } catch (error: unknown) {
    endFailed(error)
  }
}

async function receive(
  call: GrpcCall,
  method: Method,
  admitted: Admitted,
  guard: CallGuard,
  endTurn: () => void,
): Promise<void> {
  const { access, messagesMax } = method
  const take = method.open(call, admitted)
  const bytesMax = access.messageBytesMax ?? BODY_BYTES_MAX
  if (messagesMax !== undefined) {
    for await (const message of call.receive({ bytesMax, messagesMax })) {
      endTurn()
      await take(message)
    }
    call.end(OK)
    return
  }
  // No variable here has the message, since it would be held until the answer.
  await receiveOnly(call, bytesMax).then((message) =>
    takeOnly(take, message, { call, admitted, guard, endTurn }),
  )
}

async function receiveOnly(call: GrpcCall, bytesMax: number): Promise<Buffer> {
  let only: Buffer | undefined
  for await (const message of call.receive({ bytesMax, messagesMax: 1 })) only = message
  if (only === undefined) throw new CallError(NO_MESSAGE)
  return only
}

interface Taking {
  readonly call: GrpcCall
  readonly admitted: Admitted
  readonly guard: CallGuard
  readonly endTurn: () => void
}

/** Lets the method take the message when it is its turn to be decoded. */
function takeOnly(
  take: TakeMessage,
  message: Buffer,
  { call, admitted, guard, endTurn }: Taking,
): Promise<void> {
  return new Promise((resolve, reject) => {
    guard.waitToDecode(admitted, message.length, () => {
      endTurn()
      try {
        // It may have lost its turn meanwhile, and its client has been told so.
        resolve(call.hasEnded ? undefined : take(message))
      } catch (error: unknown) {
        reject(error)
      }
    })
  })
}
