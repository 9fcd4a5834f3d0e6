-- MySQL 8.0.21+. No privilege is needed.
SHOW GLOBAL STATUS WHERE Variable_name = 'Innodb_redo_log_enabled'
