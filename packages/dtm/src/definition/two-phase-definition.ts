import type { TccBranch, TccDefinition, XaBranch, XaDefinition } from '@counterstep/core'
import { DEADLINE_MS_MAX } from '@counterstep/protocol'
import { refuse } from '../wire/answer.ts'
import type { Registration } from '../wire/read-registration.ts'
import type { DtmRequest } from '../wire/read-request.ts'
import { readBranchHeaders } from './branch-headers.ts'
import { readBranchId } from './branch-id.ts'
import { GRPC, readBareUrl, readBranchUrl, type UrlRules } from './branch-url.ts'
import { buildCommonDefinition, TIMEOUT_TO_FAIL_S } from './common-definition.ts'
import { buildContent, type Payload } from './payload.ts'
import { toSpanMs } from './to-span-ms.ts'

type Checks = Omit<UrlRules, 'protocol'>

const JSON_TYPE = 'application/json'

/** Builds the definition of a TCC. Throws AnsweredError for a TCC that cannot run. */
export function buildTccDefinition(request: DtmRequest, checks: Checks): TccDefinition {
  return { kind: 'tcc', ...buildDefinition(request, checks) }
}

/** Builds the definition of a distributed transaction by XA. Throws AnsweredError for one that cannot run. */
export function buildXaDefinition(request: DtmRequest, checks: Checks): XaDefinition {
  return { kind: 'xa', ...buildDefinition(request, checks) }
}

function buildDefinition(request: DtmRequest, { checkGrpc }: Checks): Omit<XaDefinition, 'kind'> {
  const seconds = request.timeout_to_fail > 0 ? request.timeout_to_fail : TIMEOUT_TO_FAIL_S
  return {
    ...buildCommonDefinition(request),
    // Its branches are not known yet, and they may be called over gRPC.
    ...(request.protocol === GRPC && checkGrpc !== undefined ? { callsGrpc: true } : {}),
    deadlineMs: toSpanMs('timeout_to_fail', seconds, DEADLINE_MS_MAX),
    headers: readBranchHeaders(request.branch_headers, request.protocol).headers,
  }
}

export function buildTccBranch(
  { branch_id = '', data = '', confirm = '', cancel = '' }: Registration,
  contentType: string,
  {
    payload = { text: data, isBase64: false },
    ...rules
  }: UrlRules & { readonly payload?: Payload | undefined },
): TccBranch {
  const id = readBranchId(branch_id)
  const urls = { confirm: readBranchUrl(confirm, rules), cancel: readBranchUrl(cancel, rules) }
  return {
    id,
    ...urls,
    ...buildContent(payload, Object.values(urls), { contentType, protocol: rules.protocol }),
    headers: {},
  }
}

/** A branch of XA gets no body. Its one URL tells the two calls apart by their `op`. */
export function buildXaBranch({ branch_id = '', url = '' }: Registration, rules: UrlRules): XaBranch {
  if (url === '')
    throw refuse('a branch of XA needs its url, or neither its commit nor its rollback is called')
  return {
    id: readBranchId(branch_id),
    url: readBareUrl(url, rules),
    body: '',
    contentType: JSON_TYPE,
    headers: {},
  }
}
