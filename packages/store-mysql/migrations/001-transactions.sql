-- minReader: 1
-- The small columns come first and the two texts last. Every text is stored as bytes, so that keys compare by their bytes
-- and the server converts and truncates nothing. Only the index of the gid is written in random order. The index of the
-- list grows at its end, because created_at grows.
CREATE TABLE IF NOT EXISTS counterstep_transactions (
  id BIGINT NOT NULL AUTO_INCREMENT,
  gid VARBINARY(128) NOT NULL,
  live TINYINT NOT NULL,
  due_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  version BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  format INT NOT NULL,
  claims INT NOT NULL,
  kind TINYINT NOT NULL,
  status TINYINT NOT NULL,
  owned TINYINT NOT NULL,
  sent_list TINYINT NOT NULL,
  retrying TINYINT NOT NULL,
  attention TINYINT NOT NULL,
  token VARBINARY(32) NOT NULL,
  write_id VARBINARY(32) NOT NULL,
  digest VARBINARY(64) NOT NULL,
  progress MEDIUMBLOB NOT NULL,
  definition MEDIUMBLOB NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY counterstep_gid (gid),
  KEY counterstep_due (live, due_at),
  KEY counterstep_created (created_at, gid)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET = ascii COLLATE = ascii_bin
