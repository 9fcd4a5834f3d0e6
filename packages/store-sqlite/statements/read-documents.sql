-- One page: keys above the last one of the page before. They compare by their bytes.
SELECT category, key, text, version, updated_at
FROM documents
WHERE category = ? AND key > ?
ORDER BY key
LIMIT ?
