import type { TimedLength } from '../load/load-job.ts'
import { type Measurement, withCpuSeconds } from '../rounds.ts'
import { databaseFigures } from './measure-column.ts'
import type { RawFixture } from './raw-fixture.ts'
import type { WritersJob, WritersResult } from './run-writers.ts'
import { readDatabase } from './statement-counter.ts'
import type { Sysbench } from './sysbench.ts'
import type { TransferFixture } from './transfer-fixture.ts'

/** Beyond the measured time: connecting, and the last commits. */
const WRITERS_MARGIN_MS = 60_000

export async function measureSysbench(
  { link, database }: TransferFixture,
  sysbench: Sysbench,
  seconds: number,
): Promise<Measurement> {
  const before = await readDatabase(link)
  const { result, cpuSeconds } = await withCpuSeconds(database, () => sysbench.run(seconds))
  const after = await readDatabase(link)
  const { transactions, perSecond, latencyMs } = result
  return {
    answers: transactions,
    answersPerSecond: perSecond,
    latencyMs,
    cpuSeconds,
    figures: databaseFigures(before, after, transactions, perSecond),
  }
}

/** Our own database transaction, of six writes. */
export async function measureWriters(
  { link, accounts, database }: TransferFixture,
  { writers }: RawFixture,
  length: TimedLength,
): Promise<Measurement> {
  const job: WritersJob = { accounts, length }
  const limitMs = (length.warmUpSeconds + length.seconds) * 1000 + WRITERS_MARGIN_MS
  const before = await readDatabase(link)
  // Both ends are of one checkout.
  const write = async () => (await writers.ask(job, limitMs)) as WritersResult
  const { result, cpuSeconds } = await withCpuSeconds([writers, ...database], write)
  const after = await readDatabase(link)
  const { transactions, perSecond, latencyMs } = result
  return {
    answers: transactions,
    answersPerSecond: perSecond,
    latencyMs,
    cpuSeconds,
    figures: databaseFigures(before, after, transactions, perSecond),
  }
}
