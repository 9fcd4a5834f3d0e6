import { isDatabaseInMemory } from '../stores/is-database-in-memory.ts'
import type { TransferFixture } from './transfer-fixture.ts'

/** Lists what a reader of the database's own figures must know about the database. */
export async function databaseCautions({ host, link }: TransferFixture): Promise<readonly string[]> {
  if (host.cpuSeconds === undefined) {
    return ['CAUTION: the database is not ours alone: its counters tell of everybody']
  }
  return (await isDatabaseInMemory(link))
    ? ['CAUTION: the database lies in memory, where a commit costs next to nothing']
    : []
}
