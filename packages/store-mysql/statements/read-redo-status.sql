-- MySQL has this variable from 8.0.21 on. Reading it needs no privilege.
SHOW GLOBAL STATUS WHERE Variable_name = 'Innodb_redo_log_enabled'
