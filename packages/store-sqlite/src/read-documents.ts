import type { StoredDocument } from '@counterstep/core'
import type { Row } from './driver.ts'
import { textOfColumn } from './nul-text.ts'
import type { ReaderLink } from './reader-link.ts'

/** The largest texts make 4 MiB a page, so no other read waits long behind one. */
const DOCUMENTS_PER_PAGE = 64

export async function readDocuments(link: ReaderLink, category: string): Promise<readonly StoredDocument[]> {
  const documents: StoredDocument[] = []
  for (;;) {
    const after = documents.at(-1)?.key ?? ''
    const rows = await link.read({ type: 'documents', category, after, limit: DOCUMENTS_PER_PAGE })
    documents.push(...rows.map(storedDocument))
    if (rows.length < DOCUMENTS_PER_PAGE) return documents
  }
}

/** In the order of the columns of read-documents.sql. */
function storedDocument(row: Row): StoredDocument {
  return {
    category: row[0] as string,
    key: row[1] as string,
    text: textOfColumn(row[2] as string),
    version: row[3] as number,
    updatedAt: row[4] as number,
  }
}
