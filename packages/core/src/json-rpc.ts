/**
 * Some services of DTM are called by JSON-RPC 2.0: the payload travels in an envelope, and the HTTP status 200 may have an
 * error inside. Only the definitions of the DTM dialect ask for it.
 */
import type { Definition } from './definition.ts'
import type { BranchAnswer } from './ports/ports.ts'
import { isRecord } from './submission/faults.ts'

/** These are DTM's codes. */
const FAILURE_CODE = -32_901
const ONGOING_CODE = -32_902

const ID_NAMES: ReadonlySet<string> = new Set(['gid', 'trans_type', 'branch_id', 'op'])

/** Follows DTM's rule: in such a transaction, a URL that holds the text `method` anywhere is called by JSON-RPC. */
export function isJsonRpc({ jsonRpc }: Pick<Definition, 'jsonRpc'>, url: string): boolean {
  return jsonRpc === true && url.includes('method')
}

/**
 * Tells whether a payload may be the parameters of a call: it is empty, or an object without the names of the identity. DTM
 * puts its own values in place of the payload's.
 */
export function isJsonRpcPayload(payload: string): boolean {
  if (payload === '') return true
  const params = parse(payload)
  return isRecord(params) && !Object.keys(params).some((name) => ID_NAMES.has(name.toLowerCase()))
}

/**
 * Reads the error within an answer that is a success by its status. An error of another code than DTM's two is unknown, and so is
 * an answer that is no envelope.
 */
export function readJsonRpcAnswer(answer: BranchAnswer): BranchAnswer {
  if (answer.result !== 'success') return answer
  const { body, ...read } = answer
  const envelope = body === undefined ? undefined : parse(body)
  if (!isRecord(envelope)) return { ...read, result: 'unknown', error: 'unread' }
  // DTM's client, which is written in Go, reads a name in any letter case.
  const [error] = Object.keys(envelope)
    .filter((name) => name.toLowerCase() === 'error')
    .map((name) => envelope[name])
    .filter((given) => given !== null)
  if (error === undefined) return read
  const code = isRecord(error) ? error.code : undefined
  if (code === FAILURE_CODE) return { ...read, result: 'failure' }
  if (code === ONGOING_CODE) return { ...read, result: 'ongoing' }
  return { ...read, result: 'unknown', error: 'json-rpc-error' }
}

/** Returns undefined for a text that is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error: unknown) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
