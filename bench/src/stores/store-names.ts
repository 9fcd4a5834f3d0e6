/**
 * `mysql` is the server of TEST_MYSQL_URL, else a private MariaDB; `postgres` that of TEST_POSTGRES_URL and `redis` that of
 * TEST_REDIS_URL, else a private one.
 * `mariadb` and `mysql9` are always private ones of that make.
 */
export const STORES = ['sqlite', 'mysql', 'mariadb', 'mysql9', 'postgres', 'redis'] as const
export type StoreName = (typeof STORES)[number]
