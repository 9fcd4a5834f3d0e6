-- Strict: nothing is cut or coerced. Without NO_BACKSLASH_ESCAPES, on which the literals rely, and without ANSI_QUOTES.
-- wait_timeout: the server ends, and so rolls back, the session of a node that is frozen or cut off in the middle of a flush.
SET NAMES utf8mb4, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00',
  innodb_lock_wait_timeout = ?, wait_timeout = ?, autocommit = ?
