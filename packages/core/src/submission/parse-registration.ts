import type { JsonValue } from '@counterstep/protocol'
import type { TccBranch, TccDefinition } from '../definition.ts'
import { canonicalJson } from './canonical-json.ts'
import { Faults, isRecord, type Refused, refuseUnknownFields, refuseUnreadable } from './faults.ts'
import { type CheckUrl, parseTarget, parseUrl } from './parse-branch.ts'

const FIELDS = new Set([
  'id',
  'confirm',
  'cancel',
  'payload',
  'body',
  'contentType',
  'retry',
  'timeoutMs',
  'headers',
])

export type ParsedRegistration = { readonly type: 'parsed'; readonly branch: TccBranch } | Refused

/**
 * Reads a branch that is added to a prepared TCC. The client must choose its
 * id, since the client tries the branch under that id.
 */
export function parseRegistration(
  body: unknown,
  defaults: Pick<TccDefinition, 'retry'>,
  checkUrl: CheckUrl,
): ParsedRegistration {
  const faults = new Faults()
  const branch = readBranch(body, defaults, checkUrl, faults)
  const refused = faults.readRefusal()
  if (refused !== undefined) return refused
  if (branch === undefined) return refuseUnreadable()
  return { type: 'parsed', branch }
}

function readBranch(
  body: unknown,
  { retry }: Pick<TccDefinition, 'retry'>,
  checkUrl: CheckUrl,
  faults: Faults,
): TccBranch | undefined {
  if (!isRecord(body)) return faults.add('SAGA_INVALID', '', 'must be a JSON object')
  refuseUnknownFields(body, FIELDS, '', faults)
  if (canonicalJson(body as { readonly [key: string]: JsonValue }) === undefined)
    return faults.add('SAGA_PAYLOAD_TOO_DEEP', '', 'is nested too deep')
  if (body.id === undefined) faults.add('SAGA_BRANCH_ID_INVALID', '/id', 'is required')
  const context = { retry, headers: {}, checkUrl, faults }
  const confirm = parseUrl(body.confirm, '/confirm', context) ?? ''
  const cancel = parseUrl(body.cancel, '/cancel', context) ?? ''
  return { ...parseTarget(body, 0, '', context), confirm, cancel }
}
