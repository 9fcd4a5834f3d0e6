import type { Branch } from '../../harness/branch.ts'
import { startServer } from '../../harness/server.ts'
import { measure } from '../../rounds.ts'
import type { ScenarioContext } from '../../scenario.ts'
import type { Database, StoreHost } from '../../stores/store-host.ts'
import { type SagaShape, sagaJob } from '../saga-job.ts'

export const TABLE_NAMES = ['empty', 'full'] as const
export type TableName = (typeof TABLE_NAMES)[number]
export type Tables = Readonly<Record<TableName, Database>>

/** Two databases side by side: one with a single finished transaction, one with as many as asked for. */
export async function openTables(
  context: ScenarioContext,
  host: StoreHost,
  branch: Branch,
  shape: SagaShape,
): Promise<Tables> {
  const { rows } = context.settings
  const empty = await newTable(context, host, shape)
  const full = await newTable(context, host, shape)
  await full.copyFinished(rows - 1, (count) =>
    context.progress.show(`${count} of ${rows} finished transactions are in the full table`),
  )
  await branch.forget()
  return { empty, full }
}

/** A real transaction runs and finishes in it: its row is what the others are copies of. */
export async function newTable(
  { harness, progress }: Pick<ScenarioContext, 'harness' | 'progress'>,
  host: StoreHost,
  shape: SagaShape,
): Promise<Database> {
  progress.show('a table is made')
  const database = await host.newDatabase()
  const server = await startServer(harness, database, {})
  const job = sagaJob(server.url, shape, 1, { type: 'count', warmUpAnswers: 0, answers: 1 })
  await measure(harness, { name: 'one saga', job, workers: [] })
  await server.child.stop()
  return database
}
