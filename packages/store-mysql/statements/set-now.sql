-- This reads the server's clock and keeps the instant as LAST_INSERT_ID() for the statements behind it in the same packet,
-- which is sent before the client knows the instant. An insert leaves the id of its row in its place.
SELECT LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000) AS now
