import type { handleBidiStreamingCall } from '@grpc/grpc-js'
import type { PackageDefinition } from '@grpc/proto-loader'
import type { CallGuard } from './call-guard.ts'
import { DESCRIPTOR_NAMES, SERVICES } from './descriptor.ts'
import { OpenCalls } from './open-calls.ts'
import { buildStatus, CODES } from './to-status.ts'

/** One field besides `host` is there. */
export interface ReflectionMessage {
  readonly file_by_filename?: string
  readonly file_containing_symbol?: string
  readonly list_services?: string
}

type Call = Parameters<handleBidiStreamingCall<ReflectionMessage, object>>[0]

/** These are codes of gRPC, as the protocol demands. */
const NOT_FOUND = { error_response: { error_code: 5, error_message: 'there is no such name' } }
const UNIMPLEMENTED = { error_response: { error_code: 12, error_message: 'extensions are not described' } }
/** So many calls may be open at once, and so many of them over one connection. Each holds its last questions and their answers. */
const CALLS_MAX = 64
const CALLS_PER_CONNECTION_MAX = 4
const CALL_MS_MAX = 60_000

/** protobufjs names its files for their packages. */
const DTM_FILE = 'dtmgimp.proto'
const EMPTY_FILE = 'google_protobuf.proto'
/** It leaves out that one file imports the other. This is the third field of a description, and a field may be appended. */
const IMPORT_OF_EMPTY = Buffer.concat([Buffer.from([0x1a, EMPTY_FILE.length]), Buffer.from(EMPTY_FILE)])

/** Describes the services and their messages to tools, by the standard protocol. */
export class Reflection {
  readonly #files: readonly Buffer[]
  readonly #guard: Pick<CallGuard, 'find'>
  readonly #open = new OpenCalls<Call>({
    callsMax: CALLS_MAX,
    perConnectionMax: CALLS_PER_CONNECTION_MAX,
    perNetworkMax: CALLS_MAX,
  })

  constructor(definition: PackageDefinition, guard: Pick<CallGuard, 'find'>) {
    this.#guard = guard
    const [described] = Object.values(definition).filter((each) => 'fileDescriptorProtos' in each)
    const files = described === undefined ? [] : (described.fileDescriptorProtos as readonly Buffer[])
    this.#files = files.map((file) =>
      hasName(file, DTM_FILE) ? Buffer.concat([file, IMPORT_OF_EMPTY]) : file,
    )
  }

  build() {
    return { ServerReflectionInfo: (call: Call) => this.#answerAll(call) }
  }

  #answerAll(call: Call): void {
    const { connection } = this.#guard.find(call.metadata)
    if (!this.#open.add(call, connection)) {
      call.emit('error', buildStatus(CODES.RESOURCE_EXHAUSTED, 'too many ask for descriptions'))
      return
    }
    // A client that reads nothing would keep the call for as long as its connection.
    const timer = setTimeout(() => connection.socket.destroy(), CALL_MS_MAX).unref()
    const end = () => {
      clearTimeout(timer)
      this.#open.delete(call)
    }
    call.on('cancelled', end)
    call.on('error', end)
    call.on('data', (message: ReflectionMessage) => {
      const hasRoom = call.write({ original_request: message, ...this.#answer(message) })
      // An answer is large beside its question, so one turn of the event loop answers one of each call, and none that is not read.
      call.pause()
      if (hasRoom) setImmediate(() => call.resume())
      else call.once('drain', () => call.resume())
    })
    call.on('end', () => {
      end()
      call.end()
    })
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
