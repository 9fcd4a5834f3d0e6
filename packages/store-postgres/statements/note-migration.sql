INSERT INTO counterstep_schema (version, min_reader, name, applied_at)
VALUES (?, ?, ?, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
