/**
 * DTM calls some branches by JSON-RPC, which is not supported here. A JSON-RPC server that is called as plain HTTP
 * answers 200 with an error inside, and that 200 would count as success. So such branches are refused in every request
 * that brings a URL, and again at the call.
 */
import { type Definition, type Transaction, toSaga } from '@counterstep/core'
import { refuseUnsupported } from '../wire/refuse-unsupported.ts'
import { isNoteOfProtocol } from './note.ts'

const JSON_RPC = 'json-rpc'
const ERROR_WORD = 'json-rpc'

/** Follows DTM's rule: the protocol is exactly this word, and the URL holds the text `method` anywhere. */
export function isJsonRpc(protocol: string, url: string): boolean {
  return protocol === JSON_RPC && url.includes('method')
}

/** Throws for a branch that would be called by JSON-RPC. */
export function refuseJsonRpc(protocol: string, url: string): void {
  if (isJsonRpc(protocol, url)) throw refuseUnsupported('branches called by JSON-RPC are')
}

/**
 * Throws if a stored branch would be called by JSON-RPC under the protocol of this request. DTM calls the branches of a
 * prepared transaction by the protocol of its submit.
 */
export function refuseStandingJsonRpc(protocol: string, transaction: Transaction): void {
  if (protocol !== JSON_RPC) return
  for (const url of readUrls(transaction)) refuseJsonRpc(protocol, url)
}

/**
 * Returns why a stored branch must not be called, if an older version has stored it as JSON-RPC. It is then not called,
 * and the transaction waits for an operator.
 */
export function refuseStoredJsonRpc(definition: Definition, url: string): string | undefined {
  // The cheaper test comes first, since this runs before every call.
  return url.includes('method') && isNoteOfProtocol(definition, JSON_RPC) ? ERROR_WORD : undefined
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
    case 'message': {
      const { branches, check } = transaction.definition
      return [...branches.map(({ action }) => action), check?.url ?? '']
    }
  }
}
