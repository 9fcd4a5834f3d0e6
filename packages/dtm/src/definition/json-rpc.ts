/**
 * Branches that DTM calls by JSON-RPC, which is not there yet. Called as plain HTTP they would answer 200 with an error
 * inside, and that 200 would count as done. So they are refused wherever a URL comes in, and at the call.
 */
import type { Definition, Transaction } from '@counterstep/core'
import { notThereYet } from '../wire/refuse-unsupported.ts'
import { isNoteOfProtocol } from './note.ts'

const JSON_RPC = 'json-rpc'
const ERROR_WORD = 'json-rpc'

/** DTM's own rule: the protocol is this word, letter for letter, and the URL holds the text `method` anywhere. */
export function isJsonRpc(protocol: string, url: string): boolean {
  return protocol === JSON_RPC && url.includes('method')
}

/** Throws for a branch that would be called by JSON-RPC. */
export function refuseJsonRpc(protocol: string, url: string): void {
  if (isJsonRpc(protocol, url)) throw notThereYet('branches called by JSON-RPC are')
}

/**
 * Throws where the request's protocol makes a stored branch one that is called by JSON-RPC. DTM calls the branches of a
 * prepared transaction by the protocol of its submit.
 */
export function refuseStandingJsonRpc(protocol: string, transaction: Transaction): void {
  if (protocol !== JSON_RPC) return
  for (const url of urlsIn(transaction)) refuseJsonRpc(protocol, url)
}

/** A branch that an older version has stored is not called: it waits, with this word, until a person has looked. */
export function refuseStoredJsonRpc(definition: Definition, url: string): string | undefined {
  // The cheaper question comes first, since this is asked before every call.
  return url.includes('method') && isNoteOfProtocol(definition, JSON_RPC) ? ERROR_WORD : undefined
}

function urlsIn(transaction: Transaction): readonly string[] {
  switch (transaction.kind) {
    case 'saga':
      return transaction.definition.branches.flatMap(({ action, compensation = '' }) => [
        action,
        compensation,
      ])
    case 'tcc':
      return transaction.registered.flatMap(({ confirm, cancel }) => [confirm, cancel])
    case 'message': {
      const { branches, check } = transaction.definition
      return [...branches.map(({ action }) => action), check?.url ?? '']
    }
  }
}
