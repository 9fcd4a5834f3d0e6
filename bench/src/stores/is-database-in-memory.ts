import { isInMemory } from '../report/machine.ts'
import type { SqlLink } from './sql-link.ts'

/** Its files lie elsewhere than the run's folder. */
export async function isDatabaseInMemory(link: SqlLink): Promise<boolean> {
  const [row] = await link.rows('SELECT @@datadir AS folder')
  return isInMemory(String(row?.folder))
}
