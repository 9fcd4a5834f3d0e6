import {
  AssertionError,
  type StoredDocument,
  type StoredTransaction,
  type StoreStats,
} from '@counterstep/core'
import { type Gid, PROBLEMS_MAX } from '@counterstep/protocol'
import { type STORED_COLUMNS, sumStats, toStoredTransaction, toText } from '@counterstep/store-sql'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import type { Session } from '../sessions/session.ts'
import { numberParameters } from '../sql/number-parameters.ts'

COLUMNS.readMany satisfies typeof STORED_COLUMNS
const READ_MANY = numberParameters(STATEMENTS.readMany)
const FIND_FINAL = numberParameters(STATEMENTS.findFinal)
const STATS = numberParameters(STATEMENTS.stats)
const READ_DOCUMENTS = numberParameters(STATEMENTS.readDocuments)
const DOCUMENT = COLUMNS.readDocuments
/** The largest texts make 2 MiB a page, which a slow link still brings within a statement's time. */
const DOCUMENTS_PER_PAGE = 32

/** Leaves out a row of a later version, so that it does not spoil the others. It is a bug only for a caller that asks for it alone. */
export async function readMany(
  session: Session,
  gids: readonly Gid[],
): Promise<readonly StoredTransaction[]> {
  const rows = await session.all({ sql: READ_MANY, values: [gids] })
  const transactions = rows.flatMap((row) => toStoredTransaction(row) ?? [])
  if (gids.length === 1 && transactions.length < rows.length) {
    throw new AssertionError(`${gids[0]} has codes of a later version`)
  }
  return transactions
}

export async function findFinal(session: Session, gids: readonly Gid[]): Promise<readonly Gid[]> {
  const rows = await session.all({ sql: FIND_FINAL, values: [gids] })
  return rows.map(([gid]) => String(gid) as Gid)
}

export async function readStats(session: Session): Promise<StoreStats> {
  return sumStats(await session.all({ sql: STATS, values: [PROBLEMS_MAX] }))
}

export async function readDocuments(session: Session, category: string): Promise<readonly StoredDocument[]> {
  const documents: StoredDocument[] = []
  for (;;) {
    const after = documents.at(-1)?.key ?? ''
    const rows = await session.all({ sql: READ_DOCUMENTS, values: [category, after, DOCUMENTS_PER_PAGE] })
    for (const row of rows) {
      documents.push({
        category,
        key: toText(row[DOCUMENT.documentKey]),
        text: toText(row[DOCUMENT.text]),
        version: Number(row[DOCUMENT.version]),
        updatedAt: Number(row[DOCUMENT.updatedAt]),
      })
    }
    if (rows.length < DOCUMENTS_PER_PAGE) return documents
  }
}
