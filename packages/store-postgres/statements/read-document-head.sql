SELECT version, write_id FROM counterstep_documents WHERE category = ? AND document_key = ?
