import type { CheckUrl } from '@counterstep/core'
import { CounterstepError, URL_LENGTH_MAX } from '@counterstep/protocol'
import { refuse, refuseUnprocessable } from '../wire/answer.ts'
import { refuseUnsupported } from '../wire/refuse-unsupported.ts'
import { refuseJsonRpc } from './json-rpc.ts'

/** These rules decide whether a URL is accepted. */
export interface UrlRules {
  readonly checkUrl: CheckUrl
  /** This is the `protocol` field of the transaction's request. */
  readonly protocol: string
}

/**
 * Throws for a URL that cannot be called (DTM stores it and tries for ever), and for one that must not be called. An
 * empty URL means that the branch has no such call.
 */
export function readBranchUrl(url: string, { checkUrl, protocol }: UrlRules): string {
  if (url === '') return url
  if (url.length > URL_LENGTH_MAX) throw refuseUnprocessable(`a URL is over ${URL_LENGTH_MAX} characters`)
  const refusal = checkUrl(url)
  if (refusal === undefined) {
    refuseJsonRpc(protocol, url)
    return url
  }
  if (!/^https?:\/\//i.test(url) && refusal.code === 'SAGA_URL_INVALID')
    throw refuseUnsupported('branches other than http:// and https:// are')
  if (refusal.code === 'SAGA_URL_INVALID') throw refuse(`a branch URL ${refusal.message}`)
  throw new CounterstepError(refusal.code, `a branch URL ${refusal.message}`)
}
