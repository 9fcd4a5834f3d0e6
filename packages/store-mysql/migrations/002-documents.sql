-- minReader: 1
-- Code of schema 1 does not know the table and does not need it.
-- A row with an empty key is not a document. It is the lock of its category, and its version counts the writes that were
-- tried there.
CREATE TABLE IF NOT EXISTS counterstep_documents (
  category VARBINARY(32) NOT NULL,
  document_key VARBINARY(512) NOT NULL,
  version BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  write_id VARBINARY(32) NOT NULL,
  text MEDIUMBLOB NOT NULL,
  PRIMARY KEY (category, document_key)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = ascii COLLATE = ascii_bin
