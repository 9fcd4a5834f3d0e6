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
import type { Session, Value } from '../sessions/session.ts'
import { numberParameters } from '../sql/number-parameters.ts'

const LOCK_CATEGORY = numberParameters(STATEMENTS.lockCategory)
const READ_HEAD = numberParameters(STATEMENTS.readDocumentHead)
const HEAD = COLUMNS.readDocumentHead
const COUNT = numberParameters(STATEMENTS.countDocuments)
const INSERT = numberParameters(STATEMENTS.insertDocument)
const UPDATE = numberParameters(STATEMENTS.updateDocument)
const DELETE = numberParameters(STATEMENTS.deleteDocument)

interface Head {
  readonly version: number
  readonly writeId: string
}

/** Locks the category first. Each later statement then sees all that earlier writers have committed, so there are no races. */
export async function writeDocument(session: Session, write: DocumentWrite): Promise<DocumentWriteResult> {
  const { category, key, text, expectedVersion, writeId } = write
  const now = await lockCategory(session, category)
  const head = await readHead(session, category, key)
  const present = head?.version ?? 0
  // This write was sent before.
  if (head?.writeId === writeId) return { type: 'written', version: present }
  if (present !== expectedVersion) return { type: 'conflict', version: present }
  if (head !== undefined) {
    await changeOne(session, UPDATE, [text, writeId, now, category, key])
  } else {
    const [row] = await session.all({ sql: COUNT, values: [category] })
    if (Number(row?.[0]) >= DOCUMENTS_MAX) return { type: 'full' }
    await changeOne(session, INSERT, [category, key, text, writeId, now])
  }
  return { type: 'written', version: present + 1 }
}

export async function removeDocument(
  session: Session,
  { category, key, expectedVersion }: DocumentRemoval,
): Promise<DocumentRemovalResult> {
  await lockCategory(session, category)
  const head = await readHead(session, category, key)
  if (head === undefined) return { type: 'absent' }
  if (head.version !== expectedVersion) return { type: 'conflict', version: head.version }
  await changeOne(session, DELETE, [category, key])
  return { type: 'removed' }
}

async function lockCategory(session: Session, category: string): Promise<number> {
  const [row] = await session.all({ sql: LOCK_CATEGORY, values: [category] })
  return Number(row?.[0])
}

async function readHead(session: Session, category: string, key: string): Promise<Head | undefined> {
  const [row] = await session.all({ sql: READ_HEAD, values: [category, key] })
  return row && { version: Number(row[HEAD.version]), writeId: toText(row[HEAD.writeId]) }
}

async function changeOne(session: Session, sql: string, values: readonly Value[]): Promise<void> {
  const { count } = await session.send({ sql, values })
  if (count !== 1) throw new AssertionError(`a document under its lock, and ${count} rows of it changed`)
}
