import { columnToText, type StoredDocument } from '@counterstep/core'
import type { Row } from './driver.ts'
import { COLUMNS } from './generated/sql.ts'
import type { ReaderLink } from './reader-link.ts'

/** The largest texts make 4 MiB a page, so no other read waits long behind one. */
const DOCUMENTS_PER_PAGE = 64
const ROW = COLUMNS.readDocuments

export async function readDocuments(link: ReaderLink, category: string): Promise<readonly StoredDocument[]> {
  const documents: StoredDocument[] = []
  for (;;) {
    const after = documents.at(-1)?.key ?? ''
    const rows = await link.read({ type: 'documents', category, after, limit: DOCUMENTS_PER_PAGE })
    documents.push(...rows.map(toStoredDocument))
    if (rows.length < DOCUMENTS_PER_PAGE) return documents
  }
}

function toStoredDocument(row: Row): StoredDocument {
  return {
    category: row[ROW.category] as string,
    key: row[ROW.key] as string,
    text: columnToText(row[ROW.text] as string),
    version: row[ROW.version] as number,
    updatedAt: row[ROW.updatedAt] as number,
  }
}
