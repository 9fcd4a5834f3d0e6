SELECT count(*) FROM documents WHERE category = ?
