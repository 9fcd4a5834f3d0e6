DELETE FROM counterstep_documents WHERE category = _binary ? AND document_key = _binary ?
