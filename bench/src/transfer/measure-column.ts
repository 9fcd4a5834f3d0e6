import type { Harness } from '../harness/harness.ts'
import type { TimedLength } from '../load/load-job.ts'
import { type Figures, type Measurement, measure, type RowPlan, type Worker } from '../rounds.ts'
import type { Column } from './columns.ts'
import { type DatabaseCounts, readDatabase } from './statement-counter.ts'
import type { TransferFixture } from './transfer-fixture.ts'

/** One round of one column: each connection asks for one transfer and waits for its end. */
export async function measureColumn(
  harness: Harness,
  fixture: TransferFixture,
  column: Column,
  connections: number,
  length: TimedLength,
): Promise<Measurement> {
  const named = listWorkers(fixture, column)
  const plan: RowPlan = {
    name: column.name,
    workers: named,
    job: {
      url: `${fixture.gatewayUrl}/${column.name}`,
      headers: { 'content-type': 'application/json' },
      body: '{}',
      connections,
      length,
      expectStatus: 200,
      expect: '"status":"succeeded"',
    },
  }
  const before = await readDatabase(fixture.link)
  const measured = await measure(harness, plan)
  const after = await readDatabase(fixture.link)
  return {
    ...measured,
    figures: {
      ...measured.figures,
      ...databaseFigures(before, after, measured.answers, measured.answersPerSecond),
      ...cpuFigures(named, measured),
    },
  }
}

/**
 * Divides the counts of a whole round, warm-up included, by its transactions; with the measured rate it also gives
 * figures for one second.
 */
export function databaseFigures(
  before: DatabaseCounts,
  after: DatabaseCounts,
  transactions: number,
  perSecond: number,
): Figures {
  const commits = (after.commits - before.commits) / transactions
  const statements = (after.questions - before.questions) / transactions
  const groups =
    before.groups === undefined || after.groups === undefined
      ? undefined
      : (after.groups - before.groups) / transactions
  return {
    'DB-TPS': commits * perSecond,
    OPS: statements * perSecond,
    'commits each': commits,
    'statements each': statements,
    ...(groups === undefined ? {} : { 'log writes each': groups }),
  }
}

function listWorkers(
  { gateway, services, twoWritesBaseline, server, database }: TransferFixture,
  { calls }: Column,
): readonly Worker[] {
  const between = { direct: [], baseline: [twoWritesBaseline.child], saga: [server.child] }[calls]
  return [gateway, services, ...between, ...database]
}

function cpuFigures(
  workers: readonly Worker[],
  { cpuSeconds, answers: all, answersWithoutCpu = 0 }: Measurement,
): Figures {
  const answers = all - answersWithoutCpu
  return Object.fromEntries(
    workers.flatMap(({ name }, index) => {
      const seconds = cpuSeconds[index]
      return seconds === undefined ? [] : [[`${name} µs`, (seconds / answers) * 1e6]]
    }),
  )
}
