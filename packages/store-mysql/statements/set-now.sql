-- Tells the server's clock, and keeps it: LAST_INSERT_ID() is that instant in what is written behind it in the same packet,
-- which goes out before anybody here has seen it. An insert leaves its row's id there.
SELECT LAST_INSERT_ID(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000) AS now
