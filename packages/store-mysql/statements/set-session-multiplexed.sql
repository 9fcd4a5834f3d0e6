-- These are the settings of set-session.sql, each in a statement of its own, and only those that RDS Proxy tracks. Any
-- other would pin the connection. The proxy does not track the wait for a lock, so it is not set here.
SET NAMES utf8mb4;
SET sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION';
SET time_zone = '+00:00';
SET wait_timeout = ?;
SET autocommit = ?
