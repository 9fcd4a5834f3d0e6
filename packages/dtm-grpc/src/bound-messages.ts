import type { ServerInterceptingCallInterface } from '@grpc/grpc-js'

/** The library has these fields, which its types do not show. */
interface Receiver {
  maxReceiveMessageSize?: unknown
  readonly decoder?: { maxReadMessageLength?: unknown }
}

/**
 * Bounds the messages of one call, packed and unpacked. The library has an option for all calls of a server alone. Call it before a
 * message is received. A version of the library without these fields keeps the bound of the server.
 */
export function boundMessages(call: ServerInterceptingCallInterface, bytesMax: number): void {
  const receiver = call as Receiver
  if (typeof receiver.maxReceiveMessageSize === 'number') receiver.maxReceiveMessageSize = bytesMax
  const { decoder } = receiver
  if (typeof decoder?.maxReadMessageLength === 'number') decoder.maxReadMessageLength = bytesMax
}
