/**
 * A transaction and its branches as `query` and `all` show them: the shape of DTM over MySQL, where no time is null.
 * Neither the queries of URLs nor the values of branch headers are shown, as on the native API, and not to an admin's key either.
 */
import type { BranchTarget, Definition, Transaction } from '@counterstep/core'
import { getBranchTargets, textHash, withoutQuery } from '@counterstep/core'
import type { BranchView, Op, TransactionView } from '@counterstep/protocol'
import { readNote } from '../definition/note.ts'
import { statusWord, transType } from '../wire/status-word.ts'
import { hideHeaders } from './hide-headers.ts'
import { nextLook } from './next-cron.ts'
import { rollbackReason } from './rollback-reason.ts'

const INTERVAL_S = 10

/** `view` has what has happened since `transaction` was saved. */
export interface Seen {
  readonly transaction: Transaction
  readonly view: TransactionView
}

export function shownTransaction({ transaction, view }: Seen) {
  const { definition } = transaction
  const note = readNote(definition)
  const reason = rollbackReason(view, definition)
  const next = nextLook(view, note?.retryIntervalS ?? INTERVAL_S)
  return {
    ...shownRow(stableId(view.gid), view),
    trans_type: transType(view.kind),
    status: statusWord(view.status),
    ...textUnlessEmpty('query_prepared', withoutQuery(note?.queryPrepared ?? checkUrlOf(definition))),
    protocol: note?.protocol ?? 'http',
    ...shownEnd(view),
    ...textUnlessEmpty('rollback_reason', reason ?? ''),
    options: hideHeaders(note?.options ?? '{"concurrent":false}'),
    ...textUnlessEmpty('custom_data', note?.customData ?? ''),
    next_cron_interval: next.intervalS,
    next_cron_time: timeText(next.at),
    concurrent: false,
  }
}

/** Two rows for each branch of a saga or a TCC, the undoing one first; one for each of a message. */
export function shownBranches({ transaction, view }: Seen) {
  const rows: ReturnType<typeof shownBranch>[] = []
  if (readNote(transaction.definition)?.isStepless) return rows
  const urls = urlsOf(transaction)
  for (const [position, target] of getBranchTargets(transaction).entries()) {
    const branch = view.branches[position]
    for (const op of OPS[transaction.kind]) {
      const shown = { branch, op, url: urls[position]?.[op] ?? '' }
      rows.push(shownBranch(rows.length + 1, view, target, shown))
    }
  }
  return rows
}

const OPS = { saga: ['compensate', 'action'], tcc: ['cancel', 'confirm'], message: ['action'] } as const

function urlsOf(transaction: Transaction): readonly Partial<Record<Op, string>>[] {
  switch (transaction.kind) {
    case 'saga':
      return transaction.definition.branches.map(({ action, compensation }) =>
        compensation === undefined ? { action } : { action, compensate: compensation },
      )
    case 'tcc':
      return transaction.registered
    case 'message':
      return transaction.definition.branches
  }
}

interface ShownOp {
  readonly branch: BranchView | undefined
  readonly op: Op
  readonly url: string
}

function shownBranch(
  id: number,
  view: TransactionView,
  { id: branchId, body }: BranchTarget,
  { branch, op: opName, url }: ShownOp,
) {
  const op = branch?.ops.find((each) => each.op === opName)
  const status = op?.state === 'succeeded' ? 'succeed' : op?.state === 'failed' ? 'failed' : 'prepared'
  return {
    ...shownRow(id, view),
    ...textUnlessEmpty('url', withoutQuery(url)),
    ...textUnlessEmpty('bin_data', Buffer.from(body).toString('base64')),
    branch_id: branchId,
    op: opName,
    status,
    ...(status === 'prepared' ? {} : { finish_time: timeText(op?.endedAt ?? view.updatedAt) }),
  }
}

function shownRow(id: number, { gid, createdAt, updatedAt }: TransactionView) {
  return { id, create_time: timeText(createdAt), update_time: timeText(updatedAt), gid }
}

function shownEnd({ status, finishedAt }: TransactionView) {
  if (finishedAt === undefined) return {}
  return { [status === 'succeeded' ? 'finish_time' : 'rollback_time']: timeText(finishedAt) }
}

function checkUrlOf(definition: Definition): string {
  return definition.kind === 'message' ? (definition.check?.url ?? '') : ''
}

function timeText(at: number): string {
  return new Date(at).toISOString()
}

function textUnlessEmpty<Key extends string>(key: Key, text: string): { readonly [key in Key]?: string } {
  return text === '' ? {} : ({ [key]: text } as { readonly [key in Key]: string })
}

/** Clients of C# read it as a positive number of 32 bits. Made of the gid, since nothing counts transactions. */
function stableId(gid: string): number {
  return textHash(gid) & 0x7fffffff || 1
}
