-- The clock is read once, so that every row of a flush has the same instant.
clock AS MATERIALIZED (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now)
