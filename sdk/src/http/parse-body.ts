import { isJsonType } from '@counterstep/protocol'
import { BranchError } from '../branch/branch-errors.ts'

/** Returns parsed JSON, undefined for an empty body, and the bytes of every other one. Throws BRANCH_CALL_INVALID. */
export function parseBody(contentType: string | null | undefined, bytes: Buffer): unknown {
  if (!isJsonType(contentType)) return bytes
  if (bytes.length === 0) return undefined
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error: unknown) {
    throw new BranchError(
      'BRANCH_CALL_INVALID',
      'the body is no JSON, though its content type says so',
      error,
    )
  }
}
