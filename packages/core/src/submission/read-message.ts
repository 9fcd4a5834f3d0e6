import { DEADLINE_MS_MAX, DELAY_MS_MAX, PREPARED_MS } from '@counterstep/protocol'
import type { MessageCheck, MessageDefinition } from '../definition.ts'
import { isRecord, readInteger, refuseUnknownFields } from './faults.ts'
import type { BranchContext } from './parse-branch.ts'
import { parseTarget, parseUrl, refuseDuplicates } from './parse-branch.ts'
import { parseHeaders } from './parse-headers.ts'
import { readList } from './read-list.ts'

type Body = Readonly<Record<string, unknown>>

const BRANCH_FIELDS = new Set([
  'id',
  'action',
  'payload',
  'body',
  'contentType',
  'retry',
  'timeoutMs',
  'headers',
])
const CHECK_FIELDS = new Set(['url', 'afterMs', 'headers'])

/** Reads a message. It never throws: everything wrong is added to the faults. */
export function readMessage(
  body: Body,
  common: Pick<MessageDefinition, 'retry' | 'timeoutMs' | 'checkpointMs' | 'name' | 'tags'>,
  context: BranchContext,
): MessageDefinition {
  const { faults } = context
  const { concurrent = false } = body
  if (typeof concurrent !== 'boolean') faults.add('SAGA_INVALID', '/concurrent', 'must be true or false')
  const delay = { code: 'SAGA_DELAY_INVALID', path: '/delayMs' } as const
  const delayMs = readInteger(body.delayMs, { min: 0, max: DELAY_MS_MAX }, delay, faults)
  const check = body.check === undefined ? undefined : readCheck(body.check, context)
  const branches = readList(body.branches, faults, (branch, position) =>
    parseMessageBranch(branch, position, context),
  )
  refuseDuplicates(branches ?? [], faults)
  return {
    kind: 'message',
    branches: branches ?? [],
    ...common,
    concurrent: concurrent === true,
    ...(delayMs === undefined || delayMs === 0 ? {} : { delayMs }),
    ...(check === undefined ? {} : { check }),
  }
}

function parseMessageBranch(value: unknown, position: number, context: BranchContext) {
  const path = `/branches/${position}`
  const { faults } = context
  if (!isRecord(value)) return faults.add('SAGA_INVALID', path, 'must be an object')
  refuseUnknownFields(value, BRANCH_FIELDS, path, faults)
  const action = parseUrl(value.action, `${path}/action`, context) ?? ''
  return { ...parseTarget(value, position, path, context), action }
}

function readCheck(value: unknown, context: BranchContext): MessageCheck | undefined {
  const { faults } = context
  if (!isRecord(value)) return faults.add('SAGA_INVALID', '/check', 'must be an object')
  refuseUnknownFields(value, CHECK_FIELDS, '/check', faults)
  const url = parseUrl(value.url, '/check/url', context) ?? ''
  const after = { code: 'SAGA_DEADLINE_INVALID', path: '/check/afterMs' } as const
  const afterMs = readInteger(value.afterMs, { min: 1, max: DEADLINE_MS_MAX }, after, faults)
  const headers = parseHeaders(value.headers, '/check/headers', faults, context.headers)
  return { url, afterMs: afterMs ?? PREPARED_MS, headers }
}
