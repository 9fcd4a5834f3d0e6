import type { handleBidiStreamingCall } from '@grpc/grpc-js'
import type { PackageDefinition } from '@grpc/proto-loader'
import { DESCRIPTOR_NAMES, SERVICES } from './descriptor.ts'

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
/** One call may ask so often. */
const QUESTIONS_MAX = 1_000

/** protobufjs names its files for their packages. */
const DTM_FILE = 'dtmgimp.proto'
const EMPTY_FILE = 'google_protobuf.proto'
/** It leaves out that one file imports the other. This is the third field of a description, and a field may be appended. */
const IMPORT_OF_EMPTY = Buffer.concat([Buffer.from([0x1a, EMPTY_FILE.length]), Buffer.from(EMPTY_FILE)])

/** Describes the services and their messages to tools, by the standard protocol. */
export class Reflection {
  readonly #files: readonly Buffer[]

  constructor(definition: PackageDefinition) {
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
    let questions = 0
    call.on('data', (message: ReflectionMessage) => {
      questions++
      if (questions > QUESTIONS_MAX) call.end()
      else call.write({ original_request: message, ...this.#answer(message) })
    })
    call.on('end', () => call.end())
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
