import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { RuntimeClient, SqsCounts } from '@counterstep/lambda-emulator'
import type { TransactionSummary } from '@counterstep/protocol'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { audit } from '../bank/audit/audit.ts'
import type { Violation } from '../bank/audit/violation.ts'
import { ServerAsker } from '../bank/clients/ask-server.ts'
import { Client } from '../bank/clients/client.ts'
import { countUnfinished, listTransactions } from '../bank/clients/list-transactions.ts'
import { type ClientPlan, planTransaction } from '../bank/clients/plan-transaction.ts'
import { runClients } from '../bank/clients/run-clients.ts'
import type { ClientNote, Evidence } from '../bank/evidence.ts'
import { LostAnswers } from '../bank/nemesis/lost-answers.ts'
import { BANKS } from '../bank/nemesis/nemesis-schedule.ts'
import { Pace } from '../bank/nemesis/pace.ts'
import { seededFates } from '../bank/network/call-fate.ts'
import { type ReadServer, serverReader } from '../bank/processes/server-reader.ts'
import type { Progress } from '../bank/report/progress.ts'
import { watchLogs } from '../bank/report/watch-logs.ts'
import { SeededRandom } from '../bank/seeded-random.ts'
import { FunctionFaults } from './function-faults.ts'
import { type FunctionFigures, FunctionReports } from './function-reports.ts'
import { type LambdaFixture, startLambdaFixture } from './lambda-fixture.ts'
import { CALLERS, type LambdaSettings } from './lambda-settings.ts'

/** Only tells stuck from slow: what lost messages left comes back a minute after it was swept. */
const END_MS_MAX = 200_000
const POLL_EVERY_MS = 500
const LOOK_TRIES = 20
const COMMITS_LOST_SHARE = 0.1

export interface LambdaResult {
  readonly settings: LambdaSettings
  readonly tookMs: number
  readonly healedMs: number
  readonly accepted: number
  readonly ends: Readonly<Record<string, number>>
  readonly violations: readonly Violation[]
  readonly functions: Readonly<Record<'api' | 'worker' | 'slow' | 'sweeper', FunctionFigures>>
  readonly messages: SqsCounts
  readonly slowMessages: SqsCounts
  readonly throttled: number
  readonly commitsLost: number
  readonly connectionsMost: number | undefined
}

/** One run through api, worker and sweeper, from the start of every process to the audit of what they leave. */
export class LambdaRun {
  readonly #client: RuntimeClient
  readonly #settings: LambdaSettings
  readonly #folder: string
  readonly #progress: Progress
  readonly #startedAt = performance.now()
  readonly #notes: ClientNote[] = []
  readonly #withheld = new Map<string, string>()
  readonly #watch = new SecretWatch()
  readonly #asker = new ServerAsker(this.#watch)
  readonly #reports = new FunctionReports()
  readonly #faults: FunctionFaults
  #hasHealed = false
  #isOver = false
  #accepted = 0
  #settled = 0

  constructor(client: RuntimeClient, settings: LambdaSettings, folder: string, progress: Progress) {
    this.#client = client
    this.#settings = settings
    this.#folder = folder
    this.#progress = progress
    this.#faults = new FunctionFaults(this.#random('functions'), settings)
  }

  async run(): Promise<LambdaResult> {
    this.#progress.show('bundling functions, starting banks, databases and the queue')
    const fates = seededFates(
      this.#random('network'),
      ({ gid, branchId }) => this.#withheld.get(gid) === branchId,
      () => this.#hasHealed,
    )
    const fixture = await startLambdaFixture({
      client: this.#client,
      settings: this.#settings,
      folder: this.#folder,
      fates,
      faults: this.#faults,
      reports: this.#reports,
    })
    try {
      return await this.#runOn(fixture)
    } finally {
      this.#progress.clear()
      await this.#asker.close()
      await fixture.close()
    }
  }

  async #runOn(fixture: LambdaFixture): Promise<LambdaResult> {
    const plans = this.#plan(fixture)
    const lost = this.#armLostAnswers(fixture)
    const read = serverReader(fixture.url, this.#watch)
    const followed = this.#submitAll(fixture, plans)
    await this.#untilSettled(plans.length, followed)
    this.#hasHealed = true
    this.#faults.heal()
    lost.heal()
    const healedAt = performance.now()
    await this.#untilEnded(read)
    const healedMs = performance.now() - healedAt
    this.#isOver = true
    await followed
    await Promise.all(fixture.banks.map(({ repeater }) => repeater.drain()))
    await Promise.all(fixture.banks.map(({ repeater }) => repeater.replay()))
    await this.#lookAtAll(read)
    const connectionsMost = await fixture.store.connectionsMost?.()
    await fixture.stopFunctions()
    await Promise.all(fixture.banks.map(({ process }) => process.stop()))
    await watchLogs(join(this.#folder, 'logs'), this.#watch)
    const evidence = await this.#evidence(fixture, plans)
    const { commits, commitRequests } = lost.counts()
    return {
      settings: this.#settings,
      tookMs: performance.now() - this.#startedAt,
      healedMs,
      accepted: this.#accepted,
      ends: countEnds(evidence),
      violations: audit(evidence),
      functions: {
        api: this.#reports.toFigures('api'),
        worker: this.#reports.toFigures('worker'),
        slow: this.#reports.toFigures('slow'),
        sweeper: this.#reports.toFigures('sweeper'),
      },
      messages: fixture.source.counts(),
      slowMessages: fixture.slowSource.counts(),
      throttled: this.#notes.filter(({ answer }) => answer.type === 'problem' && answer.statusCode === 429)
        .length,
      commitsLost: commits + commitRequests,
      connectionsMost,
    }
  }

  #random(part: string): SeededRandom {
    return new SeededRandom(this.#settings.seed, part)
  }

  #plan({ banks }: LambdaFixture): readonly ClientPlan[] {
    const { sagas, seed } = this.#settings
    const draw = {
      random: this.#random('plans'),
      bankUrls: banks.map(({ url }) => url),
      hasHolds: true,
      hasApprovals: false,
      workflows: 0,
    }
    const plans = Array.from({ length: sagas }, (_, index) => planTransaction(index, seed, draw))
    for (const { request, withheldBranch } of plans) {
      if (withheldBranch !== undefined) this.#withheld.set(request.gid, withheldBranch)
    }
    return plans
  }

  #armLostAnswers({ store, storeProxy, banks, frontProxy }: LambdaFixture): LostAnswers {
    const lost = new LostAnswers({
      random: this.#random('lost-answers'),
      progress: () => this.#settled / this.#settings.sagas,
      ambiguousCommits: this.#settings.sagas * COMMITS_LOST_SHARE,
    })
    lost.ofSubmits(frontProxy)
    if (storeProxy !== undefined && store.isCommit !== undefined) lost.ofCommits(storeProxy, store.isCommit)
    for (const { proxy } of banks) lost.ofBranchCalls(proxy)
    return lost
  }

  /** All at once in the beginning, then at the pace of a day. */
  async #submitAll(fixture: LambdaFixture, plans: readonly ClientPlan[]): Promise<void> {
    const { burst } = this.#settings
    const client = new Client({
      asker: this.#asker,
      urls: [fixture.url],
      random: this.#random('clients'),
      note: (note) => void this.#notes.push(note),
      isOver: () => this.#isOver,
    })
    const onSettled = (isAccepted: boolean) => {
      if (isAccepted) this.#accepted += 1
      this.#settled += 1
    }
    const run = { client, onSettled, pace: new Pace(plans.length) }
    const inBurst = runClients({ ...run, plans: plans.slice(0, burst), callers: burst })
    await this.#untilSettled(burst, inBurst)
    await Promise.all([inBurst, runClients({ ...run, plans: plans.slice(burst), callers: CALLERS })])
  }

  async #untilSettled(count: number, clients: Promise<void>): Promise<void> {
    let failure: { readonly error: unknown } | undefined
    clients.catch((error: unknown) => {
      failure = { error }
    })
    while (this.#settled < count) {
      if (failure !== undefined) throw failure.error
      this.#progress.show(`${this.#settled} of ${this.#settings.sagas} answered`)
      await delay(POLL_EVERY_MS)
    }
  }

  /** Transactions that have not ended by then are reported by the audit. */
  async #untilEnded(read: ReadServer): Promise<void> {
    const endAt = performance.now() + END_MS_MAX
    for (;;) {
      const unfinished = await persistently(() => countUnfinished(read))
      this.#progress.show(`healed; ${unfinished} unfinished`)
      if (unfinished === 0 || performance.now() > endAt) return
      await delay(POLL_EVERY_MS)
    }
  }

  async #lookAtAll(read: ReadServer): Promise<void> {
    const askedAt = performance.now()
    const seen = await persistently(() => listAll(read))
    for (const { gid, status } of seen) {
      const answer = { type: 'view', statusCode: 200, status } as const
      this.#notes.push({ gid, ask: 'look', askedAt, answeredAt: performance.now(), answer })
    }
  }

  async #evidence(fixture: LambdaFixture, plans: readonly ClientPlan[]): Promise<Evidence> {
    const indexes = Array.from({ length: BANKS }, (_, index) => index)
    const [books, banks] = await Promise.all([
      fixture.store.readStore(),
      Promise.all(indexes.map((index) => fixture.store.readBank(index))),
    ])
    return {
      planned: new Map(plans.map(({ transaction }) => [transaction.gid, transaction])),
      notes: this.#notes,
      approvals: [],
      workflows: [],
      deaths: [],
      operators: { commands: [], jobs: [], views: [] },
      calls: fixture.banks.flatMap(({ repeater }) => repeater.notes),
      banks,
      shownSecrets: this.#watch.shown,
      ...books,
    }
  }
}

async function listAll(read: ReadServer): Promise<readonly TransactionSummary[]> {
  const all: TransactionSummary[] = []
  for await (const each of listTransactions(read, '')) all.push(each)
  return all
}

/** While clients still use all environments, a question may be throttled or meet one that starts in vain. */
async function persistently<T>(question: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await question()
    } catch (error: unknown) {
      if (tries === LOOK_TRIES) throw error
      await delay(POLL_EVERY_MS)
    }
  }
}

function countEnds({ rows }: Evidence): Readonly<Record<string, number>> {
  const ends: Record<string, number> = {}
  for (const { status } of rows.values()) ends[status] = (ends[status] ?? 0) + 1
  return ends
}
