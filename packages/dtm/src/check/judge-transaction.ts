import { findUnplainIds } from '@counterstep/core'
import { isCounterstepError, isGid } from '@counterstep/protocol'
import { GRPC, readBranchUrl, type UrlRules } from '../definition/branch-url.ts'
import { buildMessageDefinition } from '../definition/message-definition.ts'
import { buildRecordedDefinition } from '../definition/recorded-definition.ts'
import { buildSagaDefinition } from '../definition/saga-definition.ts'
import { readStepRecord } from '../definition/step-record.ts'
import {
  buildTccBranch,
  buildTccDefinition,
  buildXaBranch,
  buildXaDefinition,
} from '../definition/two-phase-definition.ts'
import { GoTypeError } from '../go-json/decode-go-struct.ts'
import { GoSyntaxError } from '../go-json/scan-go-json.ts'
import { AnsweredError, refuse } from '../wire/answer.ts'
import { readGid } from '../wire/read-gid.ts'
import { type DtmRequest, readRequest } from '../wire/read-request.ts'
import type { OldBranch, OldTransaction } from './old-dtm.ts'

export interface CheckRules extends Omit<UrlRules, 'protocol'> {
  readonly plainIds: boolean
}

const JSON_TYPE = 'application/json'

/**
 * Lists why this server would refuse the request that made the transaction. It is made anew from what DTM shows and read as a request
 * is, so that the two cannot differ. There is no reason where it would be taken.
 */
export async function listRefusals(
  transaction: OldTransaction,
  branches: readonly OldBranch[],
  rules: CheckRules,
): Promise<readonly string[]> {
  const { protocol = 'http', query_prepared = '' } = transaction
  const urls = new Set([query_prepared, ...branches.map(({ url = '' }) => url)])
  const refused = [...urls].flatMap((url) =>
    findRefusal(() => readBranchUrl(url, { ...rules, protocol }), readPlace(url)),
  )
  // A request is refused for its first fault, so one of a URL would hide the others.
  if (refused.length > 0) return [...new Set(refused)]
  try {
    await readAgain(transaction, branches, rules)
    return []
  } catch (error: unknown) {
    return [describe(error)]
  }
}

async function readAgain(
  transaction: OldTransaction,
  branches: readonly OldBranch[],
  rules: CheckRules,
): Promise<void> {
  const gid = readGid(transaction.gid ?? '')
  const request = toRequest(transaction, branches)
  const { protocol } = request
  if (rules.plainIds) refuseUnplain(gid, branches)
  switch (transaction.trans_type) {
    case 'saga':
      buildSagaDefinition(request, rules)
      return
    case 'msg': {
      const phase = request.query_prepared === '' ? 'submitted' : 'prepared'
      await buildMessageDefinition(request, phase, { ...rules, findSubscribers: async () => [] })
      return
    }
    case 'tcc':
      buildTccDefinition(request, rules)
      for (const [branch_id, ops] of groupById(branches)) {
        const urls = { confirm: ops.get('confirm')?.url ?? '', cancel: ops.get('cancel')?.url ?? '' }
        const text = ops.get('confirm')?.bin_data ?? ''
        const payload = protocol === GRPC ? { text, isBase64: true } : { text: toText(text), isBase64: false }
        buildTccBranch({ branch_id, ...urls }, JSON_TYPE, { ...rules, protocol, payload })
      }
      return
    case 'xa':
      buildXaDefinition(request, rules)
      for (const [branch_id, ops] of groupById(branches))
        buildXaBranch({ branch_id, url: ops.get('commit')?.url ?? '' }, { ...rules, protocol })
      return
    case 'workflow':
      buildRecordedDefinition(request, rules)
      for (const { branch_id = '', op = '', status = '', bin_data = '' } of branches)
        readStepRecord({ branch_id, op, status }, { text: bin_data, isBase64: true })
      return
    default:
      throw new AnsweredError({ status: 500, body: JSON.stringify({ message: 'an unknown trans_type' }) })
  }
}

/** Makes the request anew. DTM keeps its steps as two rows each, the undoing one first. */
function toRequest(transaction: OldTransaction, branches: readonly OldBranch[]): DtmRequest {
  const {
    gid,
    trans_type,
    protocol = 'http',
    query_prepared = '',
    custom_data = '',
    options = '{}',
  } = transaction
  const steps = [...groupById(branches).values()].map((ops) => ({
    action: ops.get('action')?.url ?? '',
    compensate: ops.get('compensate')?.url ?? '',
    payload: ops.get('action')?.bin_data ?? '',
  }))
  const isBinary = protocol === GRPC
  const hasSteps = trans_type === 'saga' || trans_type === 'msg'
  const body = {
    ...readOptions(options),
    ...{ gid, trans_type, protocol, query_prepared, custom_data },
    steps: hasSteps ? steps.map(({ action, compensate }) => ({ action, compensate })) : [],
    payloads: hasSteps ? steps.map(({ payload }) => (isBinary ? payload : toText(payload))) : [],
  }
  const request = readRequest(JSON.stringify(body))
  return isBinary ? { ...request, hasBinaryPayloads: true } : request
}

function readOptions(text: string): object {
  try {
    return JSON.parse(text || '{}') as object
  } catch (error: unknown) {
    if (error instanceof SyntaxError) throw refuse('its options are not JSON')
    throw error
  }
}

function groupById(branches: readonly OldBranch[]): ReadonlyMap<string, ReadonlyMap<string, OldBranch>> {
  const groups = new Map<string, Map<string, OldBranch>>()
  for (const branch of branches) {
    const { branch_id = '', op = '' } = branch
    const group = groups.get(branch_id) ?? new Map<string, OldBranch>()
    groups.set(branch_id, group.set(op, branch))
  }
  return groups
}

function refuseUnplain(gid: string, branches: readonly OldBranch[]): void {
  const ids = branches.map(({ branch_id: id = '' }) => ({ id }))
  const [fault] = findUnplainIds(isGid(gid) ? gid : undefined, ids)
  if (fault !== undefined)
    throw new AnsweredError({ status: 422, body: JSON.stringify({ message: `an id ${fault.message}` }) })
}

/** Returns the reason as a list of one, or of none. */
export function findRefusal(read: () => unknown, place: string): readonly string[] {
  try {
    read()
    return []
  } catch (error: unknown) {
    return [`${place}: ${describe(error)}`]
  }
}

/** Names the host, since the query of a URL may have secrets. */
export function readPlace(url: string): string {
  return (
    /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#]*/i.exec(url)?.[0].replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1') ??
    ''
  )
}

function describe(error: unknown): string {
  if (error instanceof AnsweredError) return (JSON.parse(error.answer.body) as { message: string }).message
  if (isCounterstepError(error) || error instanceof GoSyntaxError || error instanceof GoTypeError)
    return error.message
  throw error
}

function toText(base64: string): string {
  return Buffer.from(base64, 'base64').toString()
}
