/** Numbers the parameters, which the .sql files write as question marks, in the order in which they stand. */
export function numberParameters(sql: string): string {
  let number = 0
  return sql.replace(/\?/g, () => `$${++number}`)
}
