import type { CheckUrl } from '@counterstep/core'
import { CounterstepError, URL_LENGTH_MAX } from '@counterstep/protocol'
import { refuse, refuseUnprocessable } from '../wire/answer.ts'
import { refuseUnsupported } from '../wire/refuse-unsupported.ts'
import { refuseBadJsonRpc, refuseJsonRpc } from './json-rpc.ts'

/** These rules decide whether a URL is accepted. */
export interface UrlRules {
  readonly checkUrl: CheckUrl
  /** This is the `protocol` field of the transaction's request. */
  readonly protocol: string
}

/** Reads the URL of a branch that is called with this payload. Throws as `readUrl` does. */
export function readBranchUrl(url: string, payload: string, rules: UrlRules): string {
  readUrl(url, rules.checkUrl)
  if (url !== '') refuseBadJsonRpc(rules.protocol, url, payload)
  return url
}

/** Reads the URL of a call without a payload, which is never made by JSON-RPC. Throws as `readUrl` does. */
export function readBareUrl(url: string, rules: UrlRules): string {
  refuseJsonRpc(rules.protocol, url)
  return readUrl(url, rules.checkUrl)
}

/**
 * Throws for a URL that cannot be called (DTM stores it and tries for ever), and for one that must not be called. An
 * empty URL means that the branch has no such call.
 */
export function readUrl(url: string, checkUrl: CheckUrl): string {
  if (url === '') return url
  if (url.length > URL_LENGTH_MAX) throw refuseUnprocessable(`a URL is over ${URL_LENGTH_MAX} characters`)
  const refusal = checkUrl(url)
  if (refusal === undefined) return url
  if (!/^https?:\/\//i.test(url) && refusal.code === 'SAGA_URL_INVALID')
    throw refuseUnsupported('branches other than http:// and https:// are')
  if (refusal.code === 'SAGA_URL_INVALID') throw refuse(`a branch URL ${refusal.message}`)
  throw new CounterstepError(refusal.code, `a branch URL ${refusal.message}`)
}
