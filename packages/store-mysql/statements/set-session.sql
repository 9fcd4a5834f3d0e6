-- The strict mode makes the server refuse a value that it would otherwise cut or convert. NO_BACKSLASH_ESCAPES and
-- ANSI_QUOTES must be off, because the literals are written for that. Every text is bytes for the parser too, so that no
-- character can hide a quote. MariaDB names each literal by its text, and with bytes it need not convert that name, which
-- with `_binary` was a sixth of the cost of a saga's two writes. session_track_system_variables is empty, so that the driver
-- does not hear of the change and goes on writing UTF-8. After wait_timeout the server ends, and rolls back, the session of a
-- node that is frozen or cut off in the middle of a flush.
SET session_track_system_variables = '', NAMES binary, character_set_results = utf8mb4,
  sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00',
  innodb_lock_wait_timeout = ?, wait_timeout = ?, autocommit = ?
