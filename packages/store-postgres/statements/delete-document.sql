DELETE FROM counterstep_documents WHERE category = ? AND document_key = ?
