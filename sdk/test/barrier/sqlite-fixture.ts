import { migrateBarrier, purgeBarrier, type SqliteDatabase, sqliteBarrier } from '../../src/barrier/sqlite.ts'
import type { BarrierCall, JsonValue } from '../../src/index.ts'
import { answerBy, type SuiteEffect, thrownBy } from './barrier-fixture.ts'
import type { MessageFixture } from './message-suite.ts'
import { purging, suiteClock } from './suite-clock.ts'

export function opened(open: () => SqliteDatabase): SqliteDatabase {
  const database = open()
  migrateBarrier(database)
  database.exec('CREATE TABLE effect (number INTEGER PRIMARY KEY, gid TEXT, op TEXT)')
  return database
}

export function readEffects(database: SqliteDatabase, gid: string): string[] {
  const rows = database.prepare('SELECT op FROM effect WHERE gid = ? ORDER BY number').all(gid)
  return rows.map((row) => String((row as { readonly op: unknown }).op))
}

export function act(
  tx: SqliteDatabase,
  { gid, op }: BarrierCall,
  effect: SuiteEffect,
  original?: JsonValue,
): unknown {
  tx.prepare('INSERT INTO effect (gid, op) VALUES (?, ?)').run(gid, op)
  const error = thrownBy(effect)
  if (error !== undefined) throw error
  return answerBy(effect, original)
}

export function count(database: SqliteDatabase, where = '1 = 1'): number {
  const row = database.prepare(`SELECT count(*) AS number FROM counterstep_barrier WHERE ${where}`).get()
  return Number((row as { readonly number: unknown }).number)
}

/** The part of a driver of SQLite that the suites use. */
export function toFixture(database: SqliteDatabase): MessageFixture {
  const barrier = sqliteBarrier(database, suiteClock)
  return {
    run: (call, effect) => barrier.run(call, (tx, original) => act(tx, call, effect, original)),
    queryPrepared: barrier.queryPrepared,
    effects: async (gid) => readEffects(database, gid),
    rows: async (gid) => count(database, `gid = '${gid}'`),
    rollsBack: true,
    purge: (before) => void purgeBarrier(database, purging(before)),
    close: async () => undefined,
  }
}
