/**
 * This is one migration of the barrier's table, for your own migration tool or for `migrateBarrier`. It never changes
 * after a release, and can be applied twice.
 *
 * @example
 * ```ts
 * for (const { version, sql } of mysqlBarrierMigrations()) console.log(`-- ${version}\n${sql};`)
 * ```
 */
export interface BarrierMigration {
  readonly version: number
  readonly sql: string
}
