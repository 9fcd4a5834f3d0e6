import type { StoredDocument } from '@counterstep/core'
import { toText } from '@counterstep/store-sql'
import { COLUMNS, STATEMENTS } from '../generated/sql.ts'
import type { Session } from '../sessions/session.ts'
import { fill, parseStatement } from '../sessions/statement.ts'

const READ_DOCUMENTS = parseStatement(STATEMENTS.readDocuments)
const ROW = COLUMNS.readDocuments
/** The largest texts make 2 MiB a page, which a slow link still brings within a statement's time. */
const DOCUMENTS_PER_PAGE = 32

export async function readDocuments(session: Session, category: string): Promise<readonly StoredDocument[]> {
  const documents: StoredDocument[] = []
  for (;;) {
    const after = documents.at(-1)?.key ?? ''
    const rows = await session.all(fill(READ_DOCUMENTS, [category, after, DOCUMENTS_PER_PAGE]))
    for (const row of rows) {
      documents.push({
        category,
        key: toText(row[ROW.documentKey]),
        text: toText(row[ROW.text]),
        version: Number(row[ROW.version]),
        updatedAt: Number(row[ROW.updatedAt]),
      })
    }
    if (rows.length < DOCUMENTS_PER_PAGE) return documents
  }
}
