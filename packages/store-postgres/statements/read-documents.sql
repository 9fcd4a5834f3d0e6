-- This reads one page, which begins after the last key of the page before.
SELECT document_key, text, version, updated_at
FROM counterstep_documents
WHERE category = ? AND document_key > ?
ORDER BY document_key
LIMIT ?
