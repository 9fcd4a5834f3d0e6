SELECT COALESCE(MAX(version), 0), COALESCE(MAX(min_reader), 0) FROM counterstep_schema
