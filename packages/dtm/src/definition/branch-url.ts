import type { CheckUrl } from '@counterstep/core'
import { CounterstepError, URL_LENGTH_MAX } from '@counterstep/protocol'
import { refuse, refuseOver } from '../wire/answer.ts'
import { notThereYet } from '../wire/refuse-unsupported.ts'
import { refuseJsonRpc } from './json-rpc.ts'

/** The rules that a URL is judged by. */
export interface UrlRules {
  readonly checkUrl: CheckUrl
  /** The transaction's protocol, in DTM's words. */
  readonly protocol: string
}

/**
 * Throws for a URL that no call could ever go to (DTM stores it and tries for ever), and for one that no call may go
 * to. An empty URL stands for no call.
 */
export function readBranchUrl(url: string, { checkUrl, protocol }: UrlRules): string {
  if (url === '') return url
  if (url.length > URL_LENGTH_MAX) throw refuseOver(`a URL is over ${URL_LENGTH_MAX} characters`)
  const refusal = checkUrl(url)
  if (refusal === undefined) {
    refuseJsonRpc(protocol, url)
    return url
  }
  if (!/^https?:\/\//i.test(url) && refusal.code === 'SAGA_URL_INVALID')
    throw notThereYet('branches other than http:// and https:// are')
  if (refusal.code === 'SAGA_URL_INVALID') throw refuse(`a branch URL ${refusal.message}`)
  throw new CounterstepError(refusal.code, `a branch URL ${refusal.message}`)
}
