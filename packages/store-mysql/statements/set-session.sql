-- Strict: nothing is cut or coerced. Without NO_BACKSLASH_ESCAPES, on which the literals rely, and without ANSI_QUOTES.
-- Every text is bytes, for the parser too: no character hides a quote, and MariaDB, which gives each literal its text as a
-- name, need not convert that as `_binary` has it do (a sixth of what a saga's two writes cost).
-- session_track_system_variables: the driver is not told, and goes on writing UTF-8.
-- wait_timeout: the server ends, and so rolls back, the session of a node that is frozen or cut off in the middle of a flush.
SET session_track_system_variables = '', NAMES binary, character_set_results = utf8mb4,
  sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00',
  innodb_lock_wait_timeout = ?, wait_timeout = ?, autocommit = ?
