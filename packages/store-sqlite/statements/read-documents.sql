-- This reads one page, which begins after the last key of the page before. Keys compare by their bytes.
SELECT category, key, text, version, updated_at
FROM documents
WHERE category = ? AND key > ?
ORDER BY key
LIMIT ?
