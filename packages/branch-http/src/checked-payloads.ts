import type { BranchCall } from '@counterstep/core'
import { findPayloadFault } from '@counterstep/protocol'

const REMEMBERED_MAX = 8_192

/**
 * Tells which payloads may be sent. The submit refuses all other payloads, but an older version may have stored such a
 * payload. Each payload is read only once, because a long form takes milliseconds to read, a branch that fails is
 * called many times, and only an operator changes the payload of an op, whose edit is checked when it is given.
 */
export class CheckedPayloads {
  readonly #good = new Set<string>()

  maySend(call: BranchCall): boolean {
    const { method, contentType, gid, branchId, op, acceptedAt } = call
    if (method === 'GET' || contentType === 'application/json') return true
    const key = `${gid} ${branchId} ${op} ${acceptedAt}`
    if (this.#good.has(key)) return true
    if (findPayloadFault(contentType, call.body) !== undefined) return false
    if (this.#good.size >= REMEMBERED_MAX) this.#good.clear()
    this.#good.add(key)
    return true
  }
}
