import { checkEqual } from '../../check-counts.ts'
import type { Child } from '../../harness/child.ts'
import { databaseWorker } from '../../harness/database-worker.ts'
import type { Harness } from '../../harness/harness.ts'
import { processPath } from '../../harness/paths.ts'
import type { TimedLength } from '../../load/load-job.ts'
import { type Measurement, withCpuSeconds } from '../../rounds.ts'
import { type CommitCounts, readCommits } from '../../stores/commit-counter.ts'
import { toDatabaseUrl } from '../../stores/mysql-host.ts'
import type { OwnMysql } from '../../stores/open-own-mysql.ts'
import { type Audit, auditHotRow } from './audit-hot-row.ts'
import { type CallCounts, type CallersJob, type CallersResult, WAYS, type Way } from './callers-job.ts'
import { createHotAccount } from './hot-account.ts'

const TWICE_SHARE = 0.05
/** Beyond the measured time: connecting, and the last answers. */
const CALLERS_MARGIN_MS = 60_000

const NOTHING: CallCounts = { ran: 0, duplicates: 0, refused: 0, sentTwice: 0 }

/** A database with a hot row for each way, and the process that calls them. Knows all that it has ever been answered. */
export class HotRowFixture {
  readonly #mysql: OwnMysql
  readonly #child: Child
  readonly #totals: Record<Way, CallCounts> = { update: NOTHING, plain: NOTHING, grouped: NOTHING }

  private constructor(mysql: OwnMysql, child: Child) {
    this.#mysql = mysql
    this.#child = child
  }

  static async open(harness: Harness, mysql: OwnMysql): Promise<HotRowFixture> {
    for (const way of WAYS) await createHotAccount(mysql.link, toDatabaseName(way))
    return new HotRowFixture(mysql, harness.start({ name: 'callers', script: processPath('callers') }))
  }

  get totals(): Readonly<Record<Way, CallCounts>> {
    return this.#totals
  }

  async measure(way: Way, callers: number, length: TimedLength): Promise<Measurement> {
    const before = await readCommits(this.#mysql.link)
    const workers = [this.#child, ...databaseWorker(this.#mysql.host)]
    const { result, cpuSeconds } = await withCpuSeconds(workers, () => this.#call(way, callers, length))
    const after = await readCommits(this.#mysql.link)
    const commits = after.commits - before.commits
    // One at a time, each call that ran is a database transaction that wrote, and so is each that is answered as a duplicate: its
    // answer rides on a flush of its own. Nothing else is.
    if (way !== 'grouped')
      checkEqual({ [`${way}: ran or duplicate`]: result.ran + result.duplicates, commits })
    return {
      answers: result.ran + result.duplicates + result.refused,
      answersPerSecond: result.ranPerSecond,
      latencyMs: result.latencyMs,
      cpuSeconds,
      figures: toCallFigures(result, before, after),
    }
  }

  async audit(way: Way): Promise<Audit> {
    return await auditHotRow(this.#mysql.link, way, toDatabaseName(way), this.#totals[way])
  }

  async #call(way: Way, callers: number, length: TimedLength): Promise<CallersResult> {
    const job: CallersJob = {
      way,
      databaseUrl: toDatabaseUrl(this.#mysql.url, toDatabaseName(way)),
      callers,
      length,
      // Nothing would filter a bare UPDATE.
      twiceShare: way === 'update' ? 0 : TWICE_SHARE,
    }
    const limitMs = (length.warmUpSeconds + length.seconds) * 1000 + CALLERS_MARGIN_MS
    // Both ends are of one checkout.
    const result = (await this.#child.ask(job, limitMs)) as CallersResult
    if (result.ranPerSecond === 0) throw new Error(`${way}: no call ran in the measured time`)
    this.#totals[way] = addCounts(this.#totals[way], result)
    return result
  }
}

function toDatabaseName(way: Way): string {
  return `hot_row_${way}`
}

function addCounts(one: CallCounts, other: CallCounts): CallCounts {
  return {
    ran: one.ran + other.ran,
    duplicates: one.duplicates + other.duplicates,
    refused: one.refused + other.refused,
    sentTwice: one.sentTwice + other.sentTwice,
  }
}

function toCallFigures(
  { ran, duplicates, refused }: CallersResult,
  before: CommitCounts,
  after: CommitCounts,
): Readonly<Record<string, number>> {
  const groups =
    before.groups === undefined || after.groups === undefined ? undefined : after.groups - before.groups
  return {
    'commits/call': (after.commits - before.commits) / (ran + duplicates),
    ...(groups === undefined ? {} : { 'log writes/call': groups / (ran + duplicates) }),
    duplicates,
    refused,
  }
}
