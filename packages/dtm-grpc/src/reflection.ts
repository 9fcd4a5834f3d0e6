import { setImmediate as waitForTurn } from 'node:timers/promises'
import { CallError } from './call-error.ts'
import { DESCRIPTOR_NAMES, REFLECTION_SERVICES, SERVICES } from './descriptor.ts'
import type { GrpcCall } from './grpc-call.ts'
import type { Method, Methods } from './method.ts'
import { REFLECTION_ACCESS } from './method-access.ts'
import { OpenCalls } from './open-calls.ts'
import type { MethodCodec, Protobuf } from './protobuf.ts'
import { buildStatus, CODES } from './to-status.ts'

/** One field besides `host` is there. */
export interface ReflectionMessage {
  readonly file_by_filename?: string
  readonly file_containing_symbol?: string
  readonly list_services?: string
}

/** These are codes of gRPC, as the protocol demands. */
const NOT_FOUND = { error_response: { error_code: 5, error_message: 'there is no such name' } }
const UNIMPLEMENTED = { error_response: { error_code: 12, error_message: 'extensions are not described' } }
/** So many calls may be open at once, and so many of them over one connection. Each holds its last questions and their answers. */
const CALLS_MAX = 64
const CALLS_PER_CONNECTION_MAX = 4
const CALL_MS_MAX = 60_000
/** One call asks so many questions. */
export const MESSAGES_MAX = 1_000
const TOO_MANY = buildStatus(CODES.RESOURCE_EXHAUSTED, 'too many ask for descriptions')

const METHOD = 'ServerReflectionInfo'
/** protobufjs names its files for their packages. */
const DTM_FILE = 'dtmgimp.proto'
const EMPTY_FILE = 'google_protobuf.proto'
/** It leaves out that one file imports the other. This is the third field of a description, and a field may be appended. */
const IMPORT_OF_EMPTY = Buffer.concat([Buffer.from([0x1a, EMPTY_FILE.length]), Buffer.from(EMPTY_FILE)])

/** Describes the services and their messages to tools, by the standard protocol. */
export class Reflection {
  readonly #files: readonly Buffer[]
  readonly #codec: MethodCodec<ReflectionMessage, object>
  readonly #open = new OpenCalls<GrpcCall>({
    callsMax: CALLS_MAX,
    perConnectionMax: CALLS_PER_CONNECTION_MAX,
    perNetworkMax: CALLS_MAX,
  })

  constructor(protobuf: Protobuf) {
    // Both versions have the same messages.
    this.#codec = protobuf.buildCodec(REFLECTION_SERVICES[0], METHOD)
    this.#files = protobuf.files.map((file) =>
      hasName(file, DTM_FILE) ? Buffer.concat([file, IMPORT_OF_EMPTY]) : file,
    )
  }

  build(): Methods {
    return new Map(REFLECTION_SERVICES.map((service) => [`/${service}/${METHOD}`, this.#method]))
  }

  readonly #method: Method = {
    access: REFLECTION_ACCESS,
    messagesMax: MESSAGES_MAX,
    open: (call, { connection }) => {
      if (!this.#open.add(call, connection)) throw new CallError(TOO_MANY)
      // A client that reads nothing would keep the call for as long as its connection.
      const timer = setTimeout(() => connection.socket.destroy(), CALL_MS_MAX).unref()
      call.onClosed(() => {
        clearTimeout(timer)
        this.#open.delete(call)
      })
      return async (message) => {
        const question = this.#codec.decode(message)
        const answer = this.#codec.encode({ original_request: question, ...this.#answer(question) })
        // An answer is large beside its question, so one turn of the event loop answers one of each call, and none that is not read.
        if (call.send(answer)) await waitForTurn()
        else await call.waitForRoom()
      }
    },
  }

  #answer({
    file_by_filename: file,
    file_containing_symbol: symbol,
    list_services: list,
  }: ReflectionMessage) {
    if (list !== undefined) return { list_services_response: { service: SERVICES.map((name) => ({ name })) } }
    if (file !== undefined) return this.#describe(this.#files.some((each) => hasName(each, file)))
    if (symbol !== undefined) return this.#describe(isKnown(symbol))
    return UNIMPLEMENTED
  }

  /** All files are described together, since they are few and need each other. */
  #describe(isThere: boolean) {
    return isThere ? { file_descriptor_response: { file_descriptor_proto: this.#files } } : NOT_FOUND
  }
}

/** A file's name is the first field of its description. */
function hasName(file: Buffer, name: string): boolean {
  const length = file.readUInt8(1)
  return file.subarray(2, 2 + length).toString() === name
}

/** A method or a field is named below its service or its message. */
function isKnown(symbol: string): boolean {
  return DESCRIPTOR_NAMES.some((name) => symbol === name || symbol.startsWith(`${name}.`))
}
