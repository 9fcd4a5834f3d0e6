/**
 * DTM calls some branches by JSON-RPC. A JSON-RPC server that is called as plain HTTP answers 200 with an error inside, and that
 * 200 would count as success. So the protocol is stored with the definition.
 */
import { type Definition, isJsonRpc, isJsonRpcPayload, type Transaction, toSaga } from '@counterstep/core'
import { refuse } from '../wire/answer.ts'
import { refuseUnsupported } from '../wire/refuse-unsupported.ts'
import { isNoteOfProtocol } from './note.ts'

export const JSON_RPC = 'json-rpc'
const ERROR_WORD = 'json-rpc'

/** Returns the part of a definition that says how its branches are called. */
export function readProtocol(protocol: string): Pick<Definition, 'jsonRpc'> {
  return protocol === JSON_RPC ? { jsonRpc: true } : {}
}

/** Throws for a branch that could never be called by JSON-RPC, if it is to be called so. */
export function refuseBadJsonRpc(protocol: string, url: string, payload: string): void {
  if (!isJsonRpc(readProtocol(protocol), url)) return
  if (!new URL(url).searchParams.get('method'))
    throw refuse('a branch URL of JSON-RPC has no parameter "method" with the name of the method')
  if (!isJsonRpcPayload(payload))
    throw refuse('a payload of JSON-RPC is no object, or has a key gid, trans_type, branch_id or op')
}

/** Throws for a call without a payload that would be made by JSON-RPC: DTM itself cannot make one. */
export function refuseJsonRpc(protocol: string, url: string): void {
  if (isJsonRpc(readProtocol(protocol), url))
    throw refuseUnsupported('query-backs and branches of XA by JSON-RPC are')
}

/**
 * Throws if a stored branch would be called by JSON-RPC under the protocol of this request, but not under the stored one. DTM calls
 * the branches of a prepared transaction by the protocol of its submit.
 */
export function refuseOtherProtocol(protocol: string, transaction: Transaction): void {
  if (protocol !== JSON_RPC || transaction.definition.jsonRpc === true) return
  if (readUrls(transaction).some((url) => isJsonRpc(readProtocol(protocol), url)))
    throw refuse('the protocol of a submit is another than that of its prepare')
}

/**
 * Returns why a stored branch must not be called, if an older version has stored it as JSON-RPC and would have called it as plain
 * HTTP. It is then not called, and the transaction waits for an operator.
 */
export function refuseStoredJsonRpc(definition: Definition, url: string): string | undefined {
  // The cheapest test comes first, since this runs before every call.
  return definition.jsonRpc === undefined && url.includes('method') && isNoteOfProtocol(definition, JSON_RPC)
    ? ERROR_WORD
    : undefined
}

function readUrls(transaction: Transaction): readonly string[] {
  switch (transaction.kind) {
    case 'saga':
    case 'workflow':
      return toSaga(transaction).definition.branches.flatMap(({ action, compensation = '' }) => [
        action,
        compensation,
      ])
    case 'tcc':
      return transaction.registered.flatMap(({ confirm, cancel }) => [confirm, cancel])
    case 'xa':
      return transaction.registered.map(({ url }) => url)
    case 'recorded':
      return []
    case 'message': {
      const { branches, check } = transaction.definition
      return [...branches.map(({ action }) => action), check?.url ?? '']
    }
  }
}
