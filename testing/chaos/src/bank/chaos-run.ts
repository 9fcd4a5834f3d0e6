import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { TransactionView } from '@counterstep/protocol'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { audit } from './audit/audit.ts'
import { BankFixture } from './bank-fixture.ts'
import type { ChaosResult } from './chaos-result.ts'
import type { ChaosSettings } from './chaos-settings.ts'
import { ServerAsker } from './clients/ask-server.ts'
import { Client } from './clients/client.ts'
import { countUnfinished, listTransactions } from './clients/list-transactions.ts'
import { listMoveUrls } from './clients/own-bank.ts'
import { type ClientPlan, planTransaction } from './clients/plan-transaction.ts'
import { runClients } from './clients/run-clients.ts'
import type { ClientNote, CommandNote, Evidence } from './evidence.ts'
import { noteActions } from './nemesis/action-log.ts'
import { LostAnswers } from './nemesis/lost-answers.ts'
import { Nemesis } from './nemesis/nemesis.ts'
import { nemesisSchedule } from './nemesis/nemesis-schedule.ts'
import { Pace } from './nemesis/pace.ts'
import { seededFates } from './network/call-fate.ts'
import { Operator } from './operators/operator.ts'
import { type OperatedPlan, planOperated } from './operators/plan-commands.ts'
import { countOperated, runOperators } from './operators/run-operators.ts'
import { FencedWrites } from './processes/server-figures.ts'
import { readPatiently } from './processes/server-reader.ts'
import { unbittenFaults } from './report/bites.ts'
import { countFaults } from './report/count-faults.ts'
import { keepEvidence } from './report/keep-evidence.ts'
import type { Progress } from './report/progress.ts'
import { watchLogs } from './report/watch-logs.ts'
import { SeededRandom } from './seeded-random.ts'

/** Only tells stuck from slow. */
const END_MS_MAX = 60_000
const POLL_EVERY_MS = 100
const SHOW_EVERY_MS = 500
const READ_MS_MAX = 10_000
/** The share of workflows in a run that is not of these alone. */
const WORKFLOWS = 0.12

/** One run, from the start of every process to the audit of what they leave. */
export class ChaosRun {
  readonly #settings: ChaosSettings
  readonly #folder: string
  readonly #progress: Progress
  readonly #startedAt = performance.now()
  readonly #notes: ClientNote[] = []
  readonly #commands: CommandNote[] = []
  readonly #withheld = new Map<string, string>()
  readonly #watch = new SecretWatch()
  readonly #asker = new ServerAsker(this.#watch)
  #hasHealed = false
  #isOver = false
  #accepted = 0

  constructor(settings: ChaosSettings, folder: string, progress: Progress) {
    this.#settings = settings
    this.#folder = folder
    this.#progress = progress
  }

  async run(): Promise<ChaosResult> {
    this.#progress.show('starting servers, banks and databases')
    const fates = seededFates(
      this.#random('network'),
      ({ gid, branchId }) => this.#withheld.get(gid) === branchId,
      () => this.#hasHealed,
    )
    const places = { settings: this.#settings, folder: this.#folder }
    const fixture = await BankFixture.start({ ...places, fates, watch: this.#watch })
    const fenced = new FencedWrites(fixture.servers)
    try {
      return await this.#runOn(fixture, fenced)
    } finally {
      fenced.stop()
      this.#progress.clear()
      await this.#asker.close()
      await fixture.close()
    }
  }

  async #runOn(fixture: BankFixture, fenced: FencedWrites): Promise<ChaosResult> {
    const { sagas } = this.#settings
    const plans = this.#plan(fixture)
    const operated = this.#planOperated(fixture)
    const pace = new Pace(sagas)
    const client = this.#client(fixture)
    const nemesis = new Nemesis({
      servers: fixture.servers,
      banks: fixture.banks,
      storeServer: fixture.store.server,
      fenced,
      abort: (gid) => client.abort(gid),
      onDone: noteActions(join(this.#folder, 'logs', 'nemesis.log'), this.#startedAt),
    })
    const lost = this.#armLostAnswers(fixture, pace)
    const load = this.#load(client, plans, pace)
    const operators = this.#operate(fixture, client, operated, pace)
    await Promise.all([this.#hurt(fixture, pace, nemesis), load.settled, operators.submitted])
    this.#hasHealed = true
    lost.heal()
    const healedAt = performance.now()
    await this.#untilEnded(fixture)
    const healedMs = performance.now() - healedAt
    this.#isOver = true
    await load.left
    const jobs = await operators.left
    fixture.assertAlive()
    await Promise.all(fixture.banks.map(({ repeater }) => repeater.drain()))
    await Promise.all(fixture.banks.map(({ repeater }) => repeater.replay()))
    await this.#lookAtAll(fixture)
    const workflows = await this.#readViews(
      fixture,
      plans.filter(({ transaction }) => transaction.kind === 'workflow'),
    )
    const sagasToApprove = await this.#readViews(
      fixture,
      plans.filter(({ transaction: { kind, approval } }) => kind !== 'workflow' && approval !== undefined),
    )
    const views = await this.#readViews(
      fixture,
      operated.map(({ plan }) => plan),
    )
    await fenced.sample()
    await fixture.stopProcesses()
    await watchLogs(join(this.#folder, 'logs'), this.#watch)
    const planned = [...plans, ...operated.map(({ plan }) => plan)]
    const operatorEvidence = { commands: this.#commands, jobs, views }
    const evidence = await this.#evidence(fixture, planned, {
      approvals: [...sagasToApprove, ...workflows],
      workflows,
      operators: operatorEvidence,
    })
    const faults = await countFaults({
      nemesis,
      fenced,
      lost,
      fixture,
      evidence,
      logFolder: join(this.#folder, 'logs'),
    })
    const violations = audit(evidence)
    await keepEvidence(this.#folder, violations, evidence)
    return {
      settings: this.#settings,
      tookMs: performance.now() - this.#startedAt,
      healedMs,
      accepted: this.#accepted,
      ends: countEnds(evidence),
      faults,
      violations,
      unbitten: unbittenFaults(this.#settings, faults, fixture.store.server !== undefined),
    }
  }

  #random(part: string): SeededRandom {
    return new SeededRandom(this.#settings.seed, part)
  }

  #plan(fixture: BankFixture): readonly ClientPlan[] {
    const { sagas, seed, guard, onlyWorkflows, inApps } = this.#settings
    const hasBarrier = guard === 'barrier'
    const bankUrls = fixture.banks.map(({ url }) => url)
    const draw = {
      random: this.#random('plans'),
      bankUrls,
      moveUrls: listMoveUrls(bankUrls, inApps),
      hasHolds: hasBarrier,
      hasApprovals: hasBarrier,
      workflows: onlyWorkflows ? 1 : hasBarrier ? WORKFLOWS : 0,
    }
    const plans = Array.from({ length: sagas }, (_, index) => planTransaction(index, seed, draw))
    for (const { request, withheldBranch } of plans) {
      if (withheldBranch !== undefined) this.#withheld.set(request.gid, withheldBranch)
    }
    return plans
  }

  #planOperated(fixture: BankFixture): readonly OperatedPlan[] {
    const { sagas, seed, guard } = this.#settings
    if (guard !== 'barrier') return []
    const [random, bankUrls] = [this.#random('commands'), fixture.banks.map(({ url }) => url)]
    return Array.from({ length: countOperated(sagas) }, (_, index) =>
      planOperated(index, seed, random, bankUrls),
    )
  }

  #armLostAnswers({ servers, banks, store }: BankFixture, pace: Pace): LostAnswers {
    const lost = new LostAnswers({
      random: this.#random('lost-answers'),
      progress: () => pace.progress,
      ambiguousCommits: this.#settings.ambiguous,
    })
    const { isCommit } = store
    for (const { clientProxy, prefix, storeProxy } of servers) {
      lost.ofSubmits(clientProxy, prefix)
      if (storeProxy !== undefined && isCommit !== undefined) lost.ofCommits(storeProxy, isCommit)
    }
    for (const { proxy } of banks) lost.ofBranchCalls(proxy)
    return lost
  }

  async #hurt({ servers, store }: BankFixture, pace: Pace, nemesis: Nemesis): Promise<void> {
    const { kills, pauses, sagas, guard } = this.#settings
    const hasAims = guard === 'barrier'
    const schedule = nemesisSchedule(
      { kills, pauses, servers: servers.length, hasStoreServer: store.server !== undefined, hasAims },
      this.#random('nemesis'),
    )
    const shown = setInterval(() => {
      const { serverKills, serverPauses } = nemesis.counts
      this.#progress.show(
        `${pace.submitted} of ${sagas} submitted, ${serverKills} of ${kills} kills, ${serverPauses} of ${pauses} pauses`,
      )
    }, SHOW_EVERY_MS)
    try {
      await Promise.all([
        ...[schedule.crashes, schedule.stalls].map((actions) =>
          nemesis.run(actions, pace.lane(actions.length)),
        ),
        // The last aim leaves some workflows that can reach it.
        nemesis.run(schedule.aims, pace.lane(schedule.aims.length + 1)),
      ])
    } finally {
      clearInterval(shown)
    }
  }

  #client({ servers }: BankFixture): Client {
    return new Client({
      asker: this.#asker,
      urls: servers.map(({ url }) => url),
      random: this.#random('clients'),
      note: (note) => void this.#notes.push(note),
      isOver: () => this.#isOver,
    })
  }

  #operate({ servers }: BankFixture, client: Client, plans: readonly OperatedPlan[], pace: Pace) {
    const random = this.#random('operators')
    const urls = servers.map(({ url }) => url)
    const operator = new Operator({
      asker: this.#asker,
      urls,
      random,
      note: (note) => void this.#commands.push(note),
      isOver: () => this.#isOver,
    })
    const onAccepted = () => {
      this.#accepted += 1
    }
    return runOperators({ plans, client, operator, pace, urls, random, onAccepted })
  }

  /** `settled`: each submit is answered; `left`: all clients are satisfied. */
  #load(client: Client, plans: readonly ClientPlan[], pace: Pace) {
    let unsettled = plans.length
    let left: Promise<void> = Promise.resolve()
    const settled = new Promise<void>((resolve, reject) => {
      const onSettled = (isAccepted: boolean) => {
        if (isAccepted) this.#accepted += 1
        unsettled -= 1
        if (unsettled === 0) resolve()
      }
      left = runClients({ plans, client, pace, onSettled })
      left.catch(reject)
    })
    return { settled, left }
  }

  /** Transactions that have not ended by then are reported by the audit. */
  async #untilEnded(fixture: BankFixture): Promise<void> {
    const endAt = performance.now() + END_MS_MAX
    for (;;) {
      fixture.assertAlive()
      const unfinished = await countUnfinished(fixture.readAny)
      this.#progress.show(`healed; ${unfinished} unfinished`)
      if (unfinished === 0 || performance.now() > endAt) return
      await delay(POLL_EVERY_MS)
    }
  }

  /** Every server is asked for everything once more, and must say what the others say. */
  async #lookAtAll({ servers }: BankFixture): Promise<void> {
    for (const { read } of servers) {
      const askedAt = performance.now()
      for await (const { gid, status } of listTransactions(read, '')) {
        const answer = { type: 'view', statusCode: 200, status } as const
        this.#notes.push({ gid, ask: 'look', askedAt, answeredAt: performance.now(), answer })
      }
    }
  }

  /** Reads those of the transactions that are there. */
  async #readViews({ readAny }: BankFixture, plans: readonly ClientPlan[]): Promise<TransactionView[]> {
    const views: TransactionView[] = []
    for (const { transaction } of plans) {
      const path = `/v1/transactions/${transaction.gid}`
      const { statusCode, text } = await readPatiently(readAny, path, READ_MS_MAX)
      if (statusCode === 200) views.push(JSON.parse(text) as TransactionView)
      else if (statusCode !== 404) throw new Error(`${transaction.gid} is answered ${statusCode}`)
    }
    return views
  }

  async #evidence(
    fixture: BankFixture,
    plans: readonly ClientPlan[],
    shown: Pick<Evidence, 'approvals' | 'workflows' | 'operators'>,
  ): Promise<Evidence> {
    const [books, banks, deaths] = await Promise.all([
      fixture.readStore(),
      fixture.readBanks(),
      Promise.all(fixture.banks.map((bank) => bank.readDeaths())),
    ])
    return {
      planned: new Map(plans.map(({ transaction }) => [transaction.gid, transaction])),
      notes: this.#notes,
      calls: fixture.banks.flatMap(({ repeater }) => repeater.notes),
      banks,
      deaths: deaths.flat(),
      ...shown,
      shownSecrets: this.#watch.shown,
      ...books,
    }
  }
}

function countEnds({ rows }: Evidence): ChaosResult['ends'] {
  const ends = { succeeded: 0, failed: 0, other: 0 }
  for (const { status } of rows.values()) {
    ends[status === 'succeeded' || status === 'failed' ? status : 'other'] += 1
  }
  return ends
}
