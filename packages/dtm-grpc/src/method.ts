import type { Admitted } from './call-guard.ts'
import type { GrpcCall } from './grpc-call.ts'
import type { MethodAccess } from './method-access.ts'

/** Takes one message of a call. The next one is read when the promise has settled. May throw a CallError. */
export type TakeMessage = (message: Buffer) => Promise<void> | void

/** Serves the calls of one path. */
export interface Method {
  readonly access: MethodAccess
  /**
   * Absent: a call brings one message, which is taken when the client has sent all, and the method ends the call. Present: it brings so many,
   * each is taken when it comes, and the call ends when the client has sent all.
   */
  readonly messagesMax?: number
  /** Begins a call whose head has passed the gate. Throws a CallError if it is refused. */
  open(call: GrpcCall, admitted: Admitted): TakeMessage
}

/** Has the methods by their paths, such as `/dtmgimp.Dtm/Submit`. */
export type Methods = ReadonlyMap<string, Method>
