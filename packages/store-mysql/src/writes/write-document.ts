import {
  AssertionError,
  DOCUMENTS_MAX,
  type DocumentRemoval,
  type DocumentRemovalResult,
  type DocumentWrite,
  type DocumentWriteResult,
} from '@counterstep/core'
import { toText } from '@counterstep/store-sql'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import type { Session } from '../sessions/session.ts'
import { fill, parseStatement } from '../sessions/statement.ts'
import type { Tx, Work } from '../transactions/transaction-protocol.ts'

const LOCK_CATEGORY = parseStatement(STATEMENTS.lockCategory)
const READ_HEAD = parseStatement(STATEMENTS.readDocumentHead)
const HEAD = COLUMNS.readDocumentHead
const COUNT = parseStatement(STATEMENTS.countDocuments)
const INSERT = parseStatement(STATEMENTS.insertDocument)
const UPDATE = parseStatement(STATEMENTS.updateDocument)
const DELETE = parseStatement(STATEMENTS.deleteDocument)

interface Head {
  readonly version: number
  readonly writeId: string
}

/** Locks the category first. Each later statement then sees all that earlier writers have committed, so there are no races. */
export async function writeDocument(tx: Tx, write: DocumentWrite): Promise<Work<DocumentWriteResult>> {
  const { category, key, text, expectedVersion, writeId } = write
  const { session, now } = tx
  const head = await lockHead(session, category, key)
  const present = head?.version ?? 0
  // This write was sent before.
  if (head?.writeId === writeId) return { value: { type: 'written', version: present }, rows: 1 }
  if (present !== expectedVersion) return { value: { type: 'conflict', version: present }, rows: 1 }
  if (head !== undefined) {
    await changeOne(session, fill(UPDATE, [text, writeId, now, category, key]))
  } else {
    const [row] = await session.all(fill(COUNT, [category]))
    if (Number(row?.[0]) >= DOCUMENTS_MAX) return { value: { type: 'full' }, rows: 1 }
    await changeOne(session, fill(INSERT, [category, key, text, writeId, now]))
  }
  return { value: { type: 'written', version: present + 1 }, rows: 2 }
}

export async function removeDocument(
  { session }: Tx,
  { category, key, expectedVersion }: DocumentRemoval,
): Promise<Work<DocumentRemovalResult>> {
  const head = await lockHead(session, category, key)
  if (head === undefined) return { value: { type: 'absent' }, rows: 1 }
  if (head.version !== expectedVersion) {
    return { value: { type: 'conflict', version: head.version }, rows: 1 }
  }
  await changeOne(session, fill(DELETE, [category, key]))
  return { value: { type: 'removed' }, rows: 2 }
}

async function lockHead(session: Session, category: string, key: string): Promise<Head | undefined> {
  await session.run(fill(LOCK_CATEGORY, [category]))
  const [row] = await session.all(fill(READ_HEAD, [category, key]))
  return row && { version: Number(row[HEAD.version]), writeId: toText(row[HEAD.writeId]) }
}

async function changeOne(session: Session, sql: string): Promise<void> {
  const changed = await session.run(sql)
  if (changed !== 1) throw new AssertionError(`a document under its lock, and ${changed} rows of it changed`)
}
