import type { CheckGrpc, CheckUrl, UrlRefusal } from '@counterstep/core'
import { CounterstepError, readGrpcTarget, URL_LENGTH_MAX } from '@counterstep/protocol'
import { AnsweredError, answerError, refuse, refuseUnprocessable } from '../wire/answer.ts'
import { refuseUnsupported } from '../wire/refuse-unsupported.ts'
import { refuseJsonRpc } from './json-rpc.ts'

/** These rules decide whether a URL is accepted. */
export interface UrlRules {
  readonly checkUrl: CheckUrl
  /** Absent: no branch may be called over gRPC. */
  readonly checkGrpc?: CheckGrpc | undefined
  /** This is the `protocol` field of the transaction's request. */
  readonly protocol: string
}

export const GRPC = 'grpc'

/** Reads the URL of a call without a payload, which is never made by JSON-RPC. Throws as `readBranchUrl` does. */
export function readBareUrl(url: string, rules: UrlRules): string {
  refuseJsonRpc(rules.protocol, url)
  return readBranchUrl(url, rules)
}

/**
 * Returns the URL to store. Throws for a URL that cannot be called (DTM stores it and tries for ever), and for one that
 * must not be called. An empty URL means that the branch has no such call.
 */
export function readBranchUrl(url: string, { checkUrl, checkGrpc, protocol }: UrlRules): string {
  if (url === '') return url
  if (url.length > URL_LENGTH_MAX) throw refuseUnprocessable(`a URL is over ${URL_LENGTH_MAX} characters`)
  if (protocol === GRPC && readGrpcTarget(url) !== undefined) return readGrpcUrl(url, checkGrpc)
  const refusal = checkUrl(url)
  if (refusal === undefined) return url
  if (!/^https?:\/\//i.test(url) && refusal.code === 'SAGA_URL_INVALID')
    throw refuseUnsupported(
      'branches other than http://, https:// and, with protocol grpc, HOST:PORT/PACKAGE.SERVICE/METHOD are',
    )
  throw toError(refusal)
}

function readGrpcUrl(target: string, checkGrpc: CheckGrpc | undefined): string {
  if (checkGrpc === undefined)
    throw new AnsweredError(
      answerError(
        'branches over gRPC are accepted only with --accept-new-kinds, and without --egress-proxy',
        501,
      ),
    )
  const url = checkGrpc(target)
  if (typeof url !== 'string') throw toError(url)
  return url
}

function toError({ code, message }: UrlRefusal): Error {
  if (code === 'SAGA_URL_INVALID') return refuse(`a branch URL ${message}`)
  return new CounterstepError(code, `a branch URL ${message}`)
}
