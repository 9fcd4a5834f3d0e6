-- A variable, so that what is written may go out in one packet with it: an instant by the server's clock is then in the
-- statements before anybody here has seen it.
SET @counterstep_now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000
