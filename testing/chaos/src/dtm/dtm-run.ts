import { setTimeout as delay } from 'node:timers/promises'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import type { Progress } from '../bank/report/progress.ts'
import { SeededRandom } from '../bank/seeded-random.ts'
import { auditDtm } from './audit/audit-dtm.ts'
import type { DtmEvidence } from './audit/dtm-evidence.ts'
import { startWorkflow } from './clients/workflow-client.ts'
import { runXaClient, type XaTold } from './clients/xa-client.ts'
import { DtmApi, type DtmView } from './dtm-api.ts'
import { DtmFixture } from './dtm-fixture.ts'
import { killParticipants, killServer } from './dtm-nemesis.ts'
import type { DtmEnds, DtmKills, DtmResult, DtmSettings } from './dtm-result.ts'
import { type DtmPlan, planDtm } from './plan.ts'
import type { Effect } from './service/tables.ts'
import { listPrepared } from './service/xa-branch.ts'

const CLIENTS = 6
/** So many more may begin before a process is dead: a point in its work is only got to by one that works. */
const BEGUN_AT_KILL = 3
/** Longer than the longest wait between two calls of DTM's API, which is a minute. */
const END_MS_MAX = 120_000
/** A prepared branch that a planted fault leaves behind holds its locks, so some others never end. */
const END_MS_MAX_IF_PLANTED = 3_000
const POLL_MS = 100
const WAIT_MS = 10
const ENDS = ['succeed', 'failed']

/** One run, from the start of every process to the audit of what they leave. */
export class DtmRun {
  readonly #settings: DtmSettings
  readonly #folder: string
  readonly #progress: Progress
  readonly #plans: readonly DtmPlan[]
  readonly #told: XaTold[] = []
  readonly #kills: DtmKills = { servers: 0, atPoint: 0, anywhere: 0 }
  #begun = 0
  #begunMax = 0
  /** Transactions whose clients are done or dead. */
  #left = 0
  #hasHealed = false

  constructor(settings: DtmSettings, folder: string, progress: Progress) {
    this.#settings = settings
    this.#folder = folder
    this.#progress = progress
    this.#plans = planDtm(settings.transactions, settings.seed, new SeededRandom(settings.seed, 'plans'))
  }

  async run(): Promise<{ readonly result: DtmResult; readonly evidence: DtmEvidence }> {
    this.#progress.show('starting servers, participants and databases')
    const startedAt = performance.now()
    const fixture = await DtmFixture.start(this.#settings, this.#folder, () => this.#hasHealed)
    try {
      await Promise.all([this.#load(fixture), this.#hurt(fixture)])
      this.#hasHealed = true
      const healedAt = performance.now()
      const direct = new DtmApi(fixture.servers.map(({ directUrl }) => directUrl))
      const { repeater } = fixture.participants
      // A late request may still begin a workflow, and a replayed one, too.
      await repeater.drain()
      const ended = await this.#untilEnded(direct)
      const healedMs = performance.now() - healedAt
      await repeater.replay()
      const after = await this.#untilEnded(direct)
      await fixture.stopProcesses()
      const evidence = await this.#readEvidence(fixture, [ended, after])
      const tookMs = Math.round(performance.now() - startedAt)
      return {
        evidence,
        result: this.#toResult(fixture, evidence, { tookMs, healedMs: Math.round(healedMs) }),
      }
    } finally {
      this.#progress.clear()
      await fixture.close()
    }
  }

  async #load({ servers, participants: { url } }: DtmFixture): Promise<void> {
    const api = new DtmApi(servers.map((server) => server.url))
    const left = this.#plans.values()
    const runClient = async () => {
      for (const plan of left) {
        while (this.#begun >= this.#begunMax) await delay(WAIT_MS)
        this.#begun += 1
        if (plan.kind === 'xa') this.#told.push(await runXaClient(plan, { api, url }))
        else await startWorkflow(plan, url)
        this.#left += 1
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, runClient))
  }

  /**
   * Kills when a part of the transactions has begun, so that each kill meets some under way. While a process is dead no other
   * one begins, since it would only find that the process is dead.
   */
  async #hurt(fixture: DtmFixture): Promise<void> {
    const { kills, transactions, seed } = this.#settings
    const random = new SeededRandom(seed, 'nemesis')
    const actions = Array.from({ length: kills }, () => [killServer, killParticipants]).flat()
    const share = transactions / (actions.length + 1)
    for (const [index, act] of actions.entries()) {
      const begunMin = Math.floor((index + 1) * share)
      const leftMin = this.#left + Math.floor(share / 2)
      this.#begunMax = begunMin + BEGUN_AT_KILL
      while (this.#begun < begunMin || this.#left < leftMin) await delay(WAIT_MS)
      this.#progress.show(`${this.#begun} of ${transactions} begun, ${index} of ${actions.length} kills`)
      const killed = await act(fixture, random, this.#kills)
      this.#begunMax = this.#begun
      await killed.restart()
    }
    this.#begunMax = Number.POSITIVE_INFINITY
  }

  /** Those that have not ended after that time are reported by the audit. */
  async #untilEnded(api: DtmApi): Promise<ReadonlyMap<string, DtmView>> {
    const views = new Map<string, DtmView>()
    let unfinished = this.#plans
    const limitMs = this.#settings.fault === 'none' ? END_MS_MAX : END_MS_MAX_IF_PLANTED
    for (const endAt = performance.now() + limitMs; ; await delay(POLL_MS)) {
      for (const [gid, view] of await this.#view(api, unfinished)) views.set(gid, view)
      unfinished = unfinished.filter(({ gid }) => {
        const { transaction = null } = views.get(gid) ?? {}
        return transaction !== null && !ENDS.includes(transaction.status)
      })
      this.#progress.show(`healed; ${unfinished.length} unfinished`)
      if (unfinished.length === 0 || performance.now() > endAt) return views
    }
  }

  async #view(api: DtmApi, plans: readonly DtmPlan[]): Promise<ReadonlyMap<string, DtmView>> {
    const views = new Map<string, DtmView>()
    for (const { gid } of plans) views.set(gid, await api.queryUntilAnswered(gid))
    return views
  }

  async #readEvidence(
    { database, participants }: DtmFixture,
    views: readonly ReadonlyMap<string, DtmView>[],
  ): Promise<DtmEvidence> {
    const connection = await createConnection(database)
    try {
      const [effects] = await connection.query<(RowDataPacket & Effect)[]>(
        'SELECT gid, branch, op, account, amount FROM effect ORDER BY id',
      )
      const [accounts] = await connection.query<RowDataPacket[]>('SELECT id, balance FROM account')
      return {
        plans: this.#plans,
        told: this.#told,
        notes: await participants.readNotes(),
        views: new Map(
          this.#plans.map(({ gid }) => [
            gid,
            views.flatMap((each) => {
              const view = each.get(gid)
              return view === undefined ? [] : [view]
            }),
          ]),
        ),
        effects,
        prepared: await listPrepared(connection),
        balances: new Map(accounts.map(({ id, balance }) => [Number(id), Number(balance)])),
      }
    } finally {
      await connection.end()
    }
  }

  #toResult(
    { servers, participants: { repeater } }: DtmFixture,
    evidence: DtmEvidence,
    times: Pick<DtmResult, 'tookMs' | 'healedMs'>,
  ): DtmResult {
    const { counts } = repeater
    const noted = evidence.notes.flatMap((note) => (note.type === 'prepared' ? [note.gid] : []))
    const acknowledged = this.#told.filter(({ isPrepared }) => isPrepared).length + new Set(noted).size
    const [xa, recorded] = (['xa', 'recorded'] as const).map((kind) => countEnds(evidence, kind))
    const result = {
      settings: this.#settings,
      ...times,
      acknowledged,
      xa: xa ?? NONE,
      recorded: recorded ?? NONE,
      kills: this.#kills,
      answersLost: servers.reduce((sum, { proxy }) => sum + proxy.counts().answersDropped, 0),
      requestsDoubled: counts.doubled,
      requestsLate: counts.late,
      requestsLost: counts.lost,
      requestsReplayed: counts.replayed,
      violations: auditDtm(evidence),
    }
    return { ...result, unbitten: listUnbitten(result) }
  }
}

const NONE: DtmEnds = { succeeded: 0, failed: 0, other: 0 }

function countEnds({ plans, views }: DtmEvidence, kind: DtmPlan['kind']): DtmEnds {
  const statuses = plans
    .filter((plan) => plan.kind === kind)
    .map(({ gid }) => views.get(gid)?.at(-1)?.transaction?.status)
  const count = (status: string) => statuses.filter((each) => each === status).length
  const [succeeded, failed] = [count('succeed'), count('failed')]
  return { succeeded, failed, other: statuses.length - succeeded - failed }
}

function listUnbitten(result: Omit<DtmResult, 'unbitten'>): readonly string[] {
  const { settings, kills, xa, recorded } = result
  const happened: readonly (readonly [string, boolean])[] = [
    ['kills of servers', kills.servers === settings.kills],
    ['kills of participants', kills.atPoint + kills.anywhere === settings.kills],
    ['XA that have succeeded', xa.succeeded > 0],
    ['XA that have failed', xa.failed > 0],
    ['workflows that have succeeded', recorded.succeeded > 0],
    ['workflows that have failed', recorded.failed > 0],
    ['doubled requests', result.requestsDoubled > 0],
  ]
  return happened.flatMap(([what, isSo]) => (isSo ? [] : [what]))
}
