import type { ServerInterceptingCallInterface } from '@grpc/grpc-js'

/** The library has these fields, which its types do not show. */
interface Receiver {
  maxReceiveMessageSize?: unknown
  readonly decoder?: {
    maxReadMessageLength?: unknown
    /** Returns the messages that are whole with these bytes. The call ends if it throws. */
    write?(bytes: Buffer): readonly Buffer[]
  }
}

export interface MessageBounds {
  /** A message has so many bytes at most, packed and unpacked. */
  readonly bytesMax: number
  /** One call brings so many messages. */
  readonly messagesMax: number
  /** One read brings so many of them. The library unpacks all of them at once. */
  readonly atOnceMax: number
}

/**
 * Bounds the messages of one call. The library bounds their bytes for all calls of a server alone, and their number not at all: it
 * unpacks thousands of a call that may bring one. Call it before a message is received. Returns false if the library no longer has these
 * fields. The call must not go on then.
 */
export function boundMessages(
  call: ServerInterceptingCallInterface,
  { bytesMax, messagesMax, atOnceMax }: MessageBounds,
): boolean {
  const receiver = call as Receiver
  const { decoder } = receiver
  const write = decoder?.write
  if (
    typeof receiver.maxReceiveMessageSize !== 'number' ||
    typeof decoder?.maxReadMessageLength !== 'number' ||
    write === undefined
  )
    return false
  receiver.maxReceiveMessageSize = bytesMax
  decoder.maxReadMessageLength = bytesMax
  let left = messagesMax
  decoder.write = (bytes) => {
    const messages = write.call(decoder, bytes)
    left -= messages.length
    if (left < 0 || messages.length > atOnceMax) throw new Error('too many messages')
    return messages
  }
  return true
}
