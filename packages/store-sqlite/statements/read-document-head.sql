SELECT version, write_id FROM documents WHERE category = ? AND key = ?
