-- Lock names belong to the whole server and have at most 64 characters. MySQL 9 has neither MD5 nor SHA1 any more.
SELECT GET_LOCK(CONCAT('counterstep.schema.', LEFT(SHA2(DATABASE(), 256), 32)), ?)
