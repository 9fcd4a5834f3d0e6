import {
  AssertionError,
  type ListedTransaction,
  type StoredTransaction,
  toKind,
  toListed,
  toSentList,
  toStatus,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { decodeMore } from './more-words.ts'

/** The number of words of each layout. */
const WORDS: Readonly<Record<string, number>> = { 1: 17, 2: 22 }
const FIRST_MORE_WORD = 17

/**
 * This is the head of a row. Its words are in the order of scripts/parts/row.lua. The due time of a live row stands
 * in the index alone.
 */
export interface RowHead extends Omit<StoredTransaction, 'gid' | 'definition' | 'progress'> {}

/** Returns undefined for a head that this version cannot read: it has another layout, or codes that are unknown here. */
export function readHead(text: string, liveDueAt: string | null): RowHead | undefined {
  const words = text.slice(0, countHeadCharacters(text)).split(' ')
  if (words.length !== WORDS[words[0] ?? '']) return undefined
  const [kind, status, sentList] = [toKind(words[2]), toStatus(words[3]), toSentList(words[7])]
  if (kind === undefined || status === undefined || sentList === undefined) return undefined
  const endAt = Number(words[13])
  return {
    kind,
    status,
    format: Number(words[1]),
    version: Number(words[4]),
    epoch: Number(words[5]),
    owned: words[6] === '1',
    sentList,
    claimsWithoutProgress: Number(words[8]),
    retrying: words[9] === '1',
    attention: words[10] === '1',
    createdAt: Number(words[11]),
    updatedAt: Number(words[12]),
    dueAt: endAt === 0 ? Number(liveDueAt) : endAt,
    token: words[14] ?? '',
    writeId: words[15] ?? '',
    digest: words[16] ?? '',
    ...(words.length > FIRST_MORE_WORD && decodeMore(words.slice(FIRST_MORE_WORD))),
  }
}

export function toStoredTransaction(
  gid: Gid,
  text: string,
  definition: string,
  liveDueAt: string | null,
): StoredTransaction {
  const head = readHead(text, liveDueAt)
  if (head === undefined) throw new AssertionError(`the row of ${gid} cannot be read by this version`)
  return toTransaction(gid, head, text, definition)
}

export function toTransaction(gid: Gid, head: RowHead, text: string, definition: string): StoredTransaction {
  return { gid, ...head, definition, progress: text.slice(countHeadCharacters(text) + 1) }
}

export function toListedTransaction(gid: Gid, head: RowHead): ListedTransaction {
  return toListed({ gid, ...head })
}

function countHeadCharacters(text: string): number {
  const end = text.indexOf('\n')
  return end < 0 ? text.length : end
}
