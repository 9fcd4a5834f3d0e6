/** Every behaviour in every role at once, against one server: hostile first, then well again. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFinalStatus, type TransactionView } from '@counterstep/protocol'
import { Orchestrator } from '../overload/orchestrator.ts'
import { growthBytes, readMemory } from '../overload/process-memory.ts'
import { Api } from './api.ts'
import { HostileBranches } from './hostile-branches.ts'
import { BRANCH_TIMEOUT_MS, type HostileCase, hostileCases, toPath, toSteps } from './hostile-case.ts'
import { hostileOp, isTried, judgeTheEnd, judgeWhileHostile } from './judge-case.ts'

export interface TriedCase {
  readonly name: string
  readonly role: HostileCase['role']
  readonly attempts: number
  readonly lastAnswer: string
  /** How far each attempt whose time is known went beyond its deadline; negative: it ended before. */
  readonly overshootMs: readonly number[]
}

export interface HostileReport {
  readonly breaches: readonly string[]
  readonly cases: readonly TriedCase[]
  readonly strayed: number
  /** Undefined where the system does not tell. */
  readonly growthBytes: number | undefined
  readonly tookMs: number
  /** How long this process could not do anything at worst: so much later it may have seen the end of an attempt. */
  readonly heldUpMsMax: number
}

const FLAGS = {
  'retry-initial-ms': 50,
  'retry-cap-ms': 500,
  'poll-ms': 100,
  'log-level': 'error',
}
const POLL_EVERY_MS = 100
/** Tells stuck from slow. */
const STUCK_MS = 120_000

/** Runs the behaviours whose names `isTaken` takes. */
export async function runHostilePass(
  isTaken: (name: string) => boolean = () => true,
): Promise<HostileReport> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'counterstep-hostile-'))
  const branches = await HostileBranches.open()
  const trustFile = join(dataFolder, 'trusted.pem')
  writeFileSync(trustFile, branches.trusted)
  try {
    const orchestrator = await Orchestrator.start({
      dataFolder,
      flags: FLAGS,
      // One of the branches has a name that does not exist, so it is not on this machine.
      environment: { NODE_EXTRA_CA_CERTS: trustFile, COUNTERSTEP_ALLOW_ANY_TARGET: 'true' },
    })
    try {
      return await new HostilePass(branches, orchestrator, isTaken).run()
    } finally {
      await orchestrator.stop()
    }
  } finally {
    await branches.close()
    rmSync(dataFolder, { recursive: true, force: true })
  }
}

class HostilePass {
  readonly #branches: HostileBranches
  readonly #orchestrator: Orchestrator
  readonly #api: Api
  readonly #cases: readonly HostileCase[]

  constructor(branches: HostileBranches, orchestrator: Orchestrator, isTaken: (name: string) => boolean) {
    this.#branches = branches
    this.#orchestrator = orchestrator
    this.#api = new Api(orchestrator)
    this.#cases = branches.urls.filter(({ name }) => isTaken(name)).flatMap(hostileCases)
  }

  async run(): Promise<HostileReport> {
    await this.#warmUp()
    const before = readMemory(this.#orchestrator.pid)
    const delay = monitorEventLoopDelay()
    delay.enable()
    const startedAt = performance.now()
    await Promise.all(this.#cases.map((hostileCase) => this.#submit(hostileCase)))
    const tried = await this.#watch(isTried)
    const breaches = this.#cases.flatMap((each) => judgeWhileHostile(each, viewIn(tried, each)))
    const cases = this.#cases.map((each) => this.#tried(each, viewIn(tried, each)))
    this.#branches.heal()
    await Promise.all(this.#cases.map((each) => this.#endByHand(each)))
    const ended = await this.#watch((_, { status }) => isFinalStatus(status))
    for (const each of this.#cases)
      breaches.push(...judgeTheEnd(each, viewIn(ended, each), this.#branches.calls))
    const tookMs = performance.now() - startedAt
    const growth = growthBytes(before, readMemory(this.#orchestrator.pid))
    if (!this.#orchestrator.isRunning) breaches.push(`the server has ended: ${this.#orchestrator.output}`)
    await this.#api.close()
    const heldUpMsMax = delay.max / 1e6
    return { breaches, cases, strayed: this.#branches.strayed, growthBytes: growth, tookMs, heldUpMsMax }
  }

  /** The same work with branches that are well, so that what it takes by itself is not counted. */
  async #warmUp(): Promise<void> {
    const { urls, wellUrl: url } = this.#branches
    const cases = urls.flatMap((_, index) =>
      hostileCases({ name: `well-${index}`, meaning: 'success', url, getsWell: true }),
    )
    await Promise.all(cases.map((each) => this.#submit(each)))
    for (const { gid } of cases) await this.#until(toPath(gid), ({ status }) => isFinalStatus(status))
  }

  async #submit(hostileCase: HostileCase): Promise<void> {
    for (const { path, body } of toSteps(hostileCase, this.#branches)) {
      const answer = await this.#api.post(path, body)
      if (answer.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(answer)}`)
    }
  }

  /** Stops a transaction that cannot get well, as a person would. */
  async #endByHand({ gid, hostile }: HostileCase): Promise<void> {
    if (hostile.getsWell) return
    const answer = await this.#api.post(`${toPath(gid)}/stop`, { reason: 'it cannot get well' })
    if (answer.status !== 200) throw new Error(`stop of ${gid}: ${JSON.stringify(answer)}`)
  }

  async #watch(
    holds: (hostileCase: HostileCase, view: TransactionView) => boolean,
  ): Promise<Map<string, TransactionView>> {
    const views = await Promise.all(
      this.#cases.map((each) => this.#until(toPath(each.gid), (view) => holds(each, view))),
    )
    return new Map(views.map((view) => [view.gid, view]))
  }

  async #until(path: string, holds: (view: TransactionView) => boolean): Promise<TransactionView> {
    const end = performance.now() + STUCK_MS
    for (;;) {
      const view = await this.#api.view(path)
      if (holds(view)) return view
      if (performance.now() > end) throw new Error(`stuck: ${JSON.stringify(view)}`)
      await sleep(POLL_EVERY_MS)
    }
  }

  #tried(hostileCase: HostileCase, view: TransactionView): TriedCase {
    const { gid, op, role, hostile } = hostileCase
    const shown = hostileOp(hostileCase, view)
    const { openMs } = this.#branches.calls.of(gid, op)
    const byServer = shown?.durationMs === undefined ? [] : [shown.durationMs]
    return {
      name: hostile.name,
      role,
      attempts: shown?.attempts ?? 0,
      lastAnswer: [shown?.result, shown?.statusCode, shown?.error].filter(Boolean).join(' '),
      overshootMs: [...openMs, ...byServer].map((ms) => Math.round(ms - BRANCH_TIMEOUT_MS)),
    }
  }
}

function viewIn(views: ReadonlyMap<string, TransactionView>, { gid }: HostileCase): TransactionView {
  const view = views.get(gid)
  if (view === undefined) throw new Error(`${gid} was not looked at`)
  return view
}
