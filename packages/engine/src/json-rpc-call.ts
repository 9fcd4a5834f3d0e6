import { type BranchCall, isJsonRpcPayload } from '@counterstep/core'
import { TRANS_TYPES } from '@counterstep/protocol'

/** Puts the payload of a call into an envelope of JSON-RPC, unchanged to the byte. Undefined: the payload cannot be in one. */
export function toJsonRpcCall(call: BranchCall): BranchCall | undefined {
  const { gid, kind, branchId, op, url, body } = call
  if (!isJsonRpcPayload(body)) return undefined
  const id = JSON.stringify(`${gid}-${branchId}-${op}`)
  const method = JSON.stringify(new URL(url).searchParams.get('method') ?? '')
  const identity = JSON.stringify({ gid, trans_type: TRANS_TYPES[kind], branch_id: branchId, op }).slice(1)
  const own = body.trim().slice(1, -1).trim()
  const params = own === '' ? `{${identity}` : `{${own},${identity}`
  const envelope = `{"jsonrpc":"2.0","id":${id},"method":${method},"params":${params}}`
  // A gid may have the signs of a form. Named a form, the envelope would read as parameters that the submitter has chosen.
  return { ...call, method: 'POST', body: envelope, contentType: 'application/json' }
}
