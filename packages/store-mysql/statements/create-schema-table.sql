CREATE TABLE IF NOT EXISTS counterstep_schema (
  version INT NOT NULL,
  min_reader INT NOT NULL,
  name VARCHAR(64) NOT NULL,
  applied_at BIGINT NOT NULL,
  PRIMARY KEY (version)
) ENGINE = InnoDB DEFAULT CHARACTER SET = ascii COLLATE = ascii_bin
