-- Every write of a document runs this first, so that the writes of a category come one after the other. It changes the row
-- each time, so that the COMMIT waits for the disk even if the write then only reads its answer.
INSERT INTO counterstep_documents (category, document_key, version, updated_at, write_id, text)
VALUES (_binary ?, '', 1, 0, '', '')
ON DUPLICATE KEY UPDATE version = version + 1
