/**
 * Stands for the instant of a database transaction in a statement that is written down before it has begun. literal.ts
 * lets no such character into a statement, so it is nowhere but where the texts have it.
 */
export const NOW_MARK = '\0'

/** As create.sql and the like say it. */
export const NOW_SQL = 'LAST_INSERT_ID()'

export function withNowMark(sql: string): string {
  return sql.replaceAll(NOW_SQL, NOW_MARK)
}
