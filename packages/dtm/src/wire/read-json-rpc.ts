import { decodeGoStruct, GoTypeError } from '../go-json/decode-go-struct.ts'
import type { GoValue } from '../go-json/go-value.ts'
import { GoBoundError, GoSyntaxError, scanGoJson } from '../go-json/scan-go-json.ts'
import { writeGoJson } from '../go-json/write-go-json.ts'
import { cutRepeated, REPEATED_LENGTH_MAX } from './cut-repeated.ts'

/** A request of JSON-RPC 2.0. DTM takes only texts as ids, and no batches. */
export interface JsonRpcRequest {
  readonly id: string
  readonly method: string
  readonly params: GoValue
}

export interface JsonRpcError {
  readonly code: number
  readonly message: string
}

/** These are DTM's. The first three are those of the standard. */
export const JSON_RPC_CODES = {
  parse: -32_700,
  badRequest: -32_600,
  unknownMethod: -32_601,
  error: -32_603,
  failure: -32_901,
} as const

/** The text cannot be read as a request. `id` is empty if none was found. */
export interface JsonRpcProblem {
  readonly id: string
  readonly problem: JsonRpcError
}

const FIELDS = {
  method: { path: 'jrpcReq.method', type: 'string' },
  jsonrpc: { path: 'jrpcReq.jsonrpc', type: 'string' },
  id: { path: 'jrpcReq.id', type: 'string' },
} as const

/** Reads the envelope as DTM does. The params are read by their method. Throws GoBoundError. */
export function readJsonRpc(body: string): JsonRpcRequest | JsonRpcProblem {
  let value: GoValue = { type: 'null' }
  try {
    value = scanGoJson(body)
    const { id, jsonrpc, method } = decodeGoStruct(value, FIELDS, 'dtmsvr.jrpcReq')
    const areShort = Math.max(id.length, method.length) <= REPEATED_LENGTH_MAX
    if (jsonrpc === '2.0' && id !== '' && areShort) return { id, method, params: findMember(value, 'params') }
    // DTM repeats the params here, too.
    const [shortId, shortMethod, version] = [id, method, jsonrpc].map(cutRepeated)
    const repeated = writeGoJson({ method: shortMethod, jsonrpc: version, params: null, id: shortId })
    const message = `Bad json request: ${repeated}`
    return { id: cutRepeated(id), problem: { code: JSON_RPC_CODES.badRequest, message } }
  } catch (error: unknown) {
    const isUnread = error instanceof GoSyntaxError || error instanceof GoTypeError
    if (!isUnread || error instanceof GoBoundError) throw error
    const id = findMember(value, 'id')
    const problem = { code: JSON_RPC_CODES.parse, message: `Parse json error: ${error.message}` }
    return { id: id.type === 'string' ? cutRepeated(id.value) : '', problem }
  }
}

/** Finds the last member of that name in any letter case, as Go's decoder does. */
function findMember(value: GoValue, name: string): GoValue {
  const members = value.type === 'object' ? value.members : []
  return members.findLast(({ key }) => key.toLowerCase() === name)?.value ?? { type: 'null' }
}
