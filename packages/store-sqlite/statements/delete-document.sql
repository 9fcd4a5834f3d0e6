DELETE FROM documents WHERE category = ? AND key = ?
