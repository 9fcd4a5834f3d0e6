INSERT INTO counterstep_schema (version, min_reader, name, applied_at)
VALUES (?, ?, ?, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)
