/**
 * Shows a transaction and its branches in the shape of DTM over MySQL, where no time is null. As on the native API,
 * neither the queries of URLs nor the values of branch headers are shown, not even to an admin's key.
 */
import type { BranchTarget, Definition, StepRecord, Transaction } from '@counterstep/core'
import { getBranchTargets, textHash, toSaga, withoutQuery } from '@counterstep/core'
import type { ShownWhole } from '@counterstep/engine'
import {
  type BranchView,
  GRPC_CONTENT_TYPE,
  isGrpcUrl,
  type Op,
  TRANS_TYPES,
  type TransactionView,
  withoutGrpcScheme,
} from '@counterstep/protocol'
import { readNote } from '../definition/note.ts'
import { writeGoJson } from '../go-json/write-go-json.ts'
import { toStatusWord } from '../wire/status-word.ts'
import { findNextCron } from './next-cron.ts'
import { findRollbackReason } from './rollback-reason.ts'

const INTERVAL_S = 10
const HIDDEN = '***'
const HEADERS = 'branch_headers'

export function showTransaction({ transaction, view }: ShownWhole) {
  const { definition } = transaction
  const note = readNote(definition)
  const reason = findRollbackReason(view, definition)
  const next = findNextCron(view, note?.retryIntervalS ?? INTERVAL_S)
  return {
    ...showRow(toStableId(view.gid), view),
    trans_type: TRANS_TYPES[view.kind],
    status: toStatusWord(view.status),
    ...omitEmpty(
      'query_prepared',
      withoutQuery(note?.queryPrepared ?? withoutGrpcScheme(readCheckUrl(definition))),
    ),
    protocol: note?.protocol ?? 'http',
    ...showEnd(view),
    ...omitEmpty('result', transaction.kind === 'recorded' ? (transaction.result ?? '') : ''),
    ...omitEmpty('rollback_reason', reason ?? ''),
    options: hideHeaders(note?.options ?? '{"concurrent":false}'),
    ...omitEmpty('custom_data', note?.customData ?? ''),
    next_cron_interval: next.intervalS,
    next_cron_time: toTimeText(next.at),
    concurrent: false,
  }
}

/** Replaces the values of the branch headers, which may be the services' keys. The names stay. */
function hideHeaders(options: string): string {
  // Most transactions have no headers, so parsing each of a long list would be waste.
  if (!options.includes(`"${HEADERS}"`)) return options
  const entries = Object.entries(JSON.parse(options) as Readonly<Record<string, unknown>>)
  return writeGoJson(
    Object.fromEntries(entries.map(([name, value]) => [name, name === HEADERS ? hideValues(value) : value])),
  )
}

function hideValues(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return HIDDEN
  return Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN]))
}

/** Shows two rows for each branch of a saga, a TCC or XA, the undoing one first, and one row for each branch of a message. */
export function showBranches({ transaction, view }: ShownWhole) {
  if (transaction.kind === 'recorded')
    return transaction.records.map((record, at) => showRecord(at + 1, view, record))
  const rows: ReturnType<typeof showBranch>[] = []
  if (readNote(transaction.definition)?.isStepless) return rows
  const urls = readUrls(transaction)
  for (const [position, target] of getBranchTargets(transaction).entries()) {
    const branch = view.branches[position]
    for (const op of OPS[transaction.kind]) {
      const shown = { branch, op, url: urls[position]?.[op] ?? '' }
      rows.push(showBranch(rows.length + 1, view, target, shown))
    }
  }
  return rows
}

const OPS = {
  saga: ['compensate', 'action'],
  tcc: ['cancel', 'confirm'],
  xa: ['rollback', 'commit'],
  message: ['action'],
  workflow: ['compensate', 'action'],
  recorded: [],
} as const

function readUrls(transaction: Transaction): readonly Partial<Record<Op, string>>[] {
  switch (transaction.kind) {
    case 'saga':
    case 'workflow':
      return toSaga(transaction).definition.branches.map(({ action, compensation }) =>
        compensation === undefined ? { action } : { action, compensate: compensation },
      )
    case 'tcc':
      return transaction.registered
    case 'xa':
      return transaction.registered.map(({ url }) => ({ rollback: url, commit: url }))
    case 'message':
      return transaction.definition.branches
    case 'recorded':
      return []
  }
}

interface ShownOp {
  readonly branch: BranchView | undefined
  readonly op: Op
  readonly url: string
}

function showBranch(
  id: number,
  view: TransactionView,
  { id: branchId, body, contentType }: BranchTarget,
  { branch, op: opName, url }: ShownOp,
) {
  const op = branch?.ops.find((each) => each.op === opName)
  const isInBase64 = contentType === GRPC_CONTENT_TYPE && isGrpcUrl(url)
  const status = op?.state === 'succeeded' ? 'succeed' : op?.state === 'failed' ? 'failed' : 'prepared'
  return {
    ...showRow(id, view),
    ...omitEmpty('url', withoutGrpcScheme(withoutQuery(url))),
    ...omitEmpty('bin_data', isInBase64 ? body : Buffer.from(body).toString('base64')),
    branch_id: branchId,
    op: opName,
    status,
    ...(status === 'prepared' ? {} : { finish_time: toTimeText(op?.endedAt ?? view.updatedAt) }),
  }
}

/** The time at which the client has reported a step is not kept. */
function showRecord(id: number, view: TransactionView, { branchId, op, status, data }: StepRecord) {
  return {
    ...showRow(id, view),
    ...omitEmpty('bin_data', data),
    branch_id: branchId,
    op,
    status: toStatusWord(status),
  }
}

function showRow(id: number, { gid, createdAt, updatedAt }: TransactionView) {
  return { id, create_time: toTimeText(createdAt), update_time: toTimeText(updatedAt), gid }
}

function showEnd({ status, finishedAt }: TransactionView) {
  if (finishedAt === undefined) return {}
  return { [status === 'succeeded' ? 'finish_time' : 'rollback_time']: toTimeText(finishedAt) }
}

function readCheckUrl(definition: Definition): string {
  return definition.kind === 'message' ? (definition.check?.url ?? '') : ''
}

export function toTimeText(at: number): string {
  return new Date(at).toISOString()
}

function omitEmpty<Key extends string>(key: Key, text: string): { readonly [key in Key]?: string } {
  return text === '' ? {} : ({ [key]: text } as { readonly [key in Key]: string })
}

/** Makes a row's id from its name, such as the gid, since nothing counts rows. Clients in C# need a positive 32-bit number. */
export function toStableId(name: string): number {
  return textHash(name) & 0x7fffffff || 1
}
