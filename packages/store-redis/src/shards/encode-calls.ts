import {
  AssertionError,
  assert,
  KIND_CODES,
  type Lease,
  NEVER_AT,
  type NewTransaction,
  PARKED_AT,
  SENT_LIST_CODES,
  type SingleClaim,
  STATUS_CODES,
  type TransactionUpdate,
  type UpdateHold,
} from '@counterstep/core'
import { encodeNames, encodeTrouble } from './more-words.ts'
import type { ShardKeys } from './shards.ts'

/** These are the keys and arguments of one script, in the order in which the script unpacks them. */
export interface ScriptCall {
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

/** Puts the keys and arguments of the rows of one shard behind the keys of the shard's indexes. */
export function writeRowsCall(keys: ShardKeys, rows: readonly ScriptCall[]): ScriptCall {
  const call = {
    keys: [
      ...[keys.due, keys.created, keys.done, keys.counts, keys.waiting, keys.problems],
      ...[keys.tags, keys.tagged],
    ],
    args: [] as string[],
  }
  for (const row of rows) {
    call.keys.push(...row.keys)
    call.args.push(...row.args)
  }
  return call
}

/** The first argument of a row is the same for many rows, so that the script parses it once. */
export function createRow(keys: ShardKeys, transaction: NewTransaction): ScriptCall {
  const { gid, format, kind, status, hold, sentList, token, writeId, digest, progress } = transaction
  const [owned, dueInMs] = hold.type === 'owned' ? ['1', hold.leaseMs] : ['0', hold.dueInMs]
  const [kindCode, statusCode] = [checkWhole(KIND_CODES[kind]), checkWhole(STATUS_CODES[status])]
  const more = encodeNames(transaction)
  return {
    keys: [keys.row(gid), keys.definition(gid)],
    args: [
      `c ${checkWhole(format)} ${kindCode} ${statusCode} ${owned} ${checkWhole(SENT_LIST_CODES[sentList])} ${checkWhole(dueInMs)}${more === '' ? '' : ' 2'}`,
      text(gid),
      `${checkWord(token)} ${checkWord(writeId)} ${checkWord(digest)}${more}\n${text(progress)}`,
      text(transaction.definition),
    ],
  }
}

export function updateRow(keys: ShardKeys, update: TransactionUpdate): ScriptCall {
  const { gid, format, retrying, attention, sentList, hold } = update
  const statusCode = checkWhole(STATUS_CODES[update.status])
  const sentListCode = sentList === undefined ? '' : checkWhole(SENT_LIST_CODES[sentList])
  return {
    keys: [keys.row(gid), keys.definition(gid)],
    args: [
      `u ${statusCode} ${checkWhole(format)} ${encodeFlag(retrying)} ${encodeFlag(attention)} ${sentListCode} ${hold.type} ${toAmount(hold)}${encodeTrouble(update)}`,
      text(gid),
      checkWord(update.token),
      checkWhole(update.version),
      checkWord(update.writeId),
      text(update.progress),
    ],
  }
}

/** Writes a timestamp, a duration, nothing, or the timestamp of an endless retention, which `=` marks. */
function toAmount(hold: UpdateHold): string {
  switch (hold.type) {
    case 'keep':
      return ''
    case 'release':
      return checkWhole(hold.dueAt)
    case 'finish':
      return hold.retentionMs === 'never' ? `=${NEVER_AT}` : checkWhole(hold.retentionMs)
    case 'command':
      return hold.dueAt === undefined ? '' : checkWhole(hold.dueAt)
  }
}

export function claimCall(keys: ShardKeys, { gid, token, leaseMs, formatMax }: SingleClaim): ScriptCall {
  return {
    keys: [keys.row(gid), keys.definition(gid), keys.due],
    args: [text(gid), checkWord(token), checkWhole(leaseMs), checkWhole(formatMax), checkWhole(PARKED_AT)],
  }
}

export function claimDueCall(
  keys: ShardKeys,
  candidates: readonly Lease[],
  terms: { readonly leaseMs: number; readonly formatMax: number },
): ScriptCall {
  return {
    keys: [
      keys.due,
      ...listRowKeys(
        keys,
        candidates.map(({ gid }) => gid),
      ),
    ],
    args: [
      checkWhole(terms.leaseMs),
      checkWhole(terms.formatMax),
      checkWhole(PARKED_AT),
      ...candidates.flatMap(({ gid, token }) => [text(gid), checkWord(token)]),
    ],
  }
}

export function postponeDueCall(
  keys: ShardKeys,
  gids: readonly string[],
  { byMs, formatMax }: { readonly byMs: number; readonly formatMax: number },
): ScriptCall {
  return {
    keys: [keys.due, ...gids.map((gid) => keys.row(gid))],
    args: [checkWhole(byMs), checkWhole(formatMax), checkWhole(PARKED_AT), ...gids.map(text)],
  }
}

export function weighCall(keys: ShardKeys, gids: readonly string[], formatMax: number): ScriptCall {
  return { keys: listRowKeys(keys, gids), args: [checkWhole(formatMax)] }
}

export function readSizesCall(keys: ShardKeys, gids: readonly string[]): ScriptCall {
  return { keys: listRowKeys(keys, gids), args: [] }
}

export function renewCall(keys: ShardKeys, leases: readonly Lease[], leaseMs: number): ScriptCall {
  return {
    keys: [keys.due, ...leases.map(({ gid }) => keys.row(gid))],
    args: [checkWhole(leaseMs), ...leases.flatMap(({ gid, token }) => [text(gid), checkWord(token)])],
  }
}

export function readCall(keys: ShardKeys, gids: readonly string[]): ScriptCall {
  return {
    keys: [keys.due, ...listRowKeys(keys, gids)],
    args: gids.map(text),
  }
}

export function readHeadsCall(keys: ShardKeys, gids: readonly string[]): ScriptCall {
  return { keys: [keys.due, ...gids.map((gid) => keys.row(gid))], args: gids.map(text) }
}

export function purgeCall(keys: ShardKeys, gids: readonly string[]): ScriptCall {
  return {
    keys: [keys.done, keys.created, keys.tags, keys.tagged, ...listRowKeys(keys, gids)],
    args: gids.map(text),
  }
}

export function readProblemsCall(keys: ShardKeys, problems: readonly string[]): ScriptCall {
  return { keys: [keys.problems, keys.waiting], args: problems }
}

function listRowKeys(keys: ShardKeys, gids: readonly string[]): readonly string[] {
  return gids.flatMap((gid) => [keys.row(gid), keys.definition(gid)])
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new AssertionError('a row with something else where a text must be')
  return value
}

const WORD = /^[A-Za-z0-9-]+$/
const WORD_LENGTH_MAX = 64

/** Checks a word of a row's head. A blank or a new line in it would shift the words behind it. */
function checkWord(value: unknown): string {
  const checked = text(value)
  assert(
    checked.length <= WORD_LENGTH_MAX && WORD.test(checked),
    'a token, writeId or digest with a character that it cannot have',
  )
  return checked
}

function checkWhole(value: unknown): string {
  assert(Number.isSafeInteger(value), 'a row with something else where a whole number must be')
  return String(value)
}

function encodeFlag(value: boolean): string {
  return value ? '1' : '0'
}
