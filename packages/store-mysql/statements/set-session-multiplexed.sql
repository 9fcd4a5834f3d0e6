-- As set-session.sql, one setting a statement and only such as RDS Proxy tracks: another would pin the connection.
-- The lock wait is none of them.
SET NAMES utf8mb4;
SET sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION';
SET time_zone = '+00:00';
SET wait_timeout = ?;
SET autocommit = ?
