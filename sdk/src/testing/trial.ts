import { IDENTITY_HEADERS } from '@counterstep/protocol'
import { newGid } from '../gid.ts'
import { sleep } from '../sleep.ts'
import type { OpenService, WireAnswer } from './branch-service.ts'
import type { BranchIds, CompleteBranch } from './branch-under-test.ts'
import type { Evidence, SentCall } from './evidence.ts'
import { findChange, NOTHING, type StateChange, writeState } from './state-change.ts'
import { NoAnswer, RuleBroken, TimeOver } from './verdict.ts'

export type Role = 'action' | 'compensation'

/**
 * Holds the changes that one action, its compensation, and both together have made, and the longest time after which an
 * effect was seen.
 */
export interface Learned {
  once: StateChange
  undo: StateChange
  both: StateChange
  lagMs: number
}

/** The state that all checks of one run share. */
export interface Run {
  readonly branch: CompleteBranch
  readonly service: OpenService
  /** This is a time of `performance.now()`. */
  readonly startedAt: number
  readonly learned: Learned
  hasPassed(check: string): boolean
}

/** The parts of a call that differ from the usual one. */
export interface Unusual {
  readonly payload?: unknown
  /** The body is sent as it is. */
  readonly body?: string
  /** The body is filled up to this size with white space. */
  readonly bodyBytes?: number
  /** An action is sent as one that nothing undoes. */
  readonly hasNoUndo?: boolean
  /** Changes the query before it is sent. */
  readonly query?: (query: URLSearchParams) => void
}

const OPS = {
  saga: { action: 'action', compensation: 'compensate' },
  tcc: { action: 'try', compensation: 'cancel' },
} as const
const RETRY_DELAY_MS = 50
const POLL_MS = 20
const HTTP_OK = 200

/** One run of one check. It sends calls, reads the state, and writes down both. */
export class Trial {
  readonly evidence: Evidence[] = []
  readonly run: Run
  readonly #attempts = new Map<string, number>()
  readonly #acceptedAt = Date.now()
  /** The actions whose effect may still stand, with the calls by which they were sent. */
  readonly #open = new Map<string, { readonly ids: BranchIds; readonly unusual: Unusual }>()

  constructor(run: Run) {
    this.run = run
  }

  newBranch(branchId = '01'): BranchIds {
    return { gid: newGid(), branchId }
  }

  /** Sends one call. Rejects with `NoAnswer` if there is no answer. */
  async send(role: Role, ids: BranchIds, unusual: Unusual = {}): Promise<WireAnswer> {
    const { callTimeoutMs } = this.run.branch
    const at = this.evidence.length
    const call = this.#toCall(role, ids, unusual)
    this.evidence.push(call)
    try {
      const answer = await this.#answerTo(call, callTimeoutMs, unusual.query === undefined)
      this.evidence[at] = { ...call, answer: { ...answer, cameMs: this.#ms() } }
      this.#remember(role, ids, unusual, answer.statusCode)
      return answer
    } catch (error: unknown) {
      const lost = toReason(error)
      this.evidence[at] = { ...call, lost }
      throw new NoAnswer(`${call.op} of ${ids.gid} got no answer: ${lost}`, error instanceof TimeOver)
    }
  }

  /** Sends a call again like the orchestrator, after a while, as long as the answer is 425, 429, 5xx or lost. */
  async ask(role: Role, ids: BranchIds, unusual: Unusual = {}): Promise<WireAnswer> {
    const { attemptsMax } = this.run.branch
    for (let attempt = 1; attempt < attemptsMax; attempt++) {
      const answer = await this.#sendOnce(role, ids, unusual)
      if (answer !== undefined && !isAskedAgain(answer.statusCode)) return answer
      await sleep(RETRY_DELAY_MS * 2 ** (attempt - 1))
    }
    return this.send(role, ids, unusual)
  }

  /** Returns undefined if the answer was lost and may be asked for again. */
  async #sendOnce(role: Role, ids: BranchIds, unusual: Unusual): Promise<WireAnswer | undefined> {
    try {
      return await this.send(role, ids, unusual)
    } catch (error: unknown) {
      if (error instanceof NoAnswer && !error.isTimeOver) return undefined
      throw error
    }
  }

  async read(ids: BranchIds): Promise<string> {
    const state = writeState(await this.run.branch.read(ids), ids.gid)
    const last = this.evidence.at(-1)
    if (last?.step !== 'read' || last.state !== state || last.gid !== ids.gid) {
      this.evidence.push({ step: 'read', ...ids, state })
    }
    return state
  }

  /** Reads the state before the next call. If effects were seen late before, it gives the last effect time to show. */
  async readFirst(ids: BranchIds): Promise<string> {
    const { lagMs } = this.run.learned
    const state = await this.read(ids)
    if (lagMs === 0) return state
    await sleep(2 * lagMs)
    return this.read(ids)
  }

  /**
   * Reads until `isThere` is true, or until `settleMs` has passed, and then once more, because a kit that was delayed
   * itself may have read only once by then.
   */
  async readUntil(ids: BranchIds, isThere: (state: string) => boolean): Promise<string> {
    const startedAt = performance.now()
    const until = startedAt + this.run.branch.settleMs
    for (let looks = 1; ; looks++) {
      const lookedAt = performance.now()
      const state = await this.read(ids)
      if (isThere(state)) {
        if (looks > 1) this.#learnLag(lookedAt - startedAt)
        return state
      }
      if (lookedAt >= until) return state
      await sleep(POLL_MS)
    }
  }

  /** Raises the lag for all later checks. A time in which the kit itself was delayed counts at most as `settleMs`. */
  #learnLag(lagMs: number): void {
    const { branch, learned } = this.run
    learned.lagMs = Math.max(learned.lagMs, Math.min(Math.ceil(lagMs), branch.settleMs))
  }

  did(what: (Evidence & { step: 'did' })['what']): void {
    this.evidence.push({ step: 'did', what })
  }

  /**
   * Returns the change since `start`. It waits for one of `expected`, since an effect may be seen later than its
   * answer. It cannot wait for an effect that should not come; so if effects were seen late before, it waits for the
   * same time again.
   */
  async changeSince(start: string, ids: BranchIds, expected: readonly string[]): Promise<StateChange> {
    const isThere = (state: string) => expected.includes(findChange(start, state).text)
    const mayCome = expected.some((text) => text !== NOTHING)
    const state = mayCome ? await this.readUntil(ids, isThere) : await this.read(ids)
    const { lagMs } = this.run.learned
    if (lagMs === 0) return findChange(start, state)
    await sleep(2 * lagMs)
    return findChange(start, await this.read(ids))
  }

  /**
   * Compensates all actions of the check, also if one fails, so that the next check finds the service as this one
   * did.
   */
  async tidyUp(): Promise<void> {
    if (this.#open.size === 0) return
    this.did('tidies up')
    const refused: string[] = []
    for (const { ids, unusual } of [...this.#open.values()]) {
      const { statusCode, body } = await this.ask('compensation', ids, unusual)
      if (statusCode !== HTTP_OK) refused.push(`${statusCode} ${body}`)
    }
    await sleep(2 * this.run.learned.lagMs)
    if (refused[0] === undefined) return
    const found = `the compensation of an action that succeeded was answered ${refused[0]}`
    throw new RuleBroken('COMPENSATION_NOT_DONE', found)
  }

  #toCall(role: Role, ids: BranchIds, unusual: Unusual): SentCall {
    const { payload, body, bodyBytes = 0, query } = unusual
    const { branch, service } = this.run
    const op = OPS[branch.kind][role]
    const url = new URL(branch[role], service.base)
    const parameters = { gid: ids.gid, trans_type: branch.kind, branch_id: ids.branchId, op }
    const identity = new URLSearchParams(parameters)
    query?.(identity)
    const ownQuery = url.search.slice(1)
    url.search = [identity.toString(), ownQuery].filter((part) => part !== '').join('&')
    const key = `${ids.gid} ${ids.branchId} ${op}`
    const attempt = (this.#attempts.get(key) ?? 0) + 1
    this.#attempts.set(key, attempt)
    const sent = payload === undefined ? toPayload(branch.payload, ids) : payload
    const text = (body ?? JSON.stringify(sent)).padEnd(bodyBytes)
    const mark = unusual.hasNoUndo === true && op === 'action' ? { hasNoUndo: true as const } : {}
    return { step: 'call', op, ...ids, ...mark, attempt, url: url.href, body: text, sentMs: this.#ms() }
  }

  #identityHeaders({ gid, branchId, op }: SentCall): Record<string, string> {
    return {
      [IDENTITY_HEADERS.gid]: gid,
      [IDENTITY_HEADERS.branchId]: branchId,
      [IDENTITY_HEADERS.op]: op,
      [IDENTITY_HEADERS.kind]: this.run.branch.kind,
    }
  }

  async #answerTo(call: SentCall, callTimeoutMs: number, hasIdentity: boolean): Promise<WireAnswer> {
    const { branch, service, startedAt } = this.run
    const leftMs = Math.ceil(startedAt + branch.timeLimitMs - performance.now())
    const atLimit = new TimeOver(`the time limit of ${branch.timeLimitMs} ms is over`)
    if (leftMs <= 0) throw atLimit
    const headers = {
      ...branch.headers,
      'content-type': 'application/json',
      'counterstep-attempt': String(call.attempt),
      'counterstep-epoch': '1',
      'counterstep-accepted-at': String(this.#acceptedAt),
      // A call whose query is wrong on purpose must not name its branch in headers instead.
      ...(hasIdentity ? this.#identityHeaders(call) : {}),
      ...(call.hasNoUndo === true ? { 'counterstep-undo': 'none' } : {}),
    }
    const request = { url: new URL(call.url), headers, body: call.body }
    const late = leftMs < callTimeoutMs ? atLimit : new TimeOver(`none within ${callTimeoutMs} ms`)
    const timeoutMs = Math.min(callTimeoutMs, leftMs)
    return await answerWithin({ timeoutMs, late }, (signal) => service.send(request, signal))
  }

  #remember(role: Role, ids: BranchIds, unusual: Unusual, statusCode: number): void {
    const key = `${ids.gid} ${ids.branchId}`
    if (role === 'action' && statusCode === HTTP_OK && unusual.query === undefined) {
      this.#open.set(key, { ids, unusual })
    } else if (role === 'compensation' && statusCode === HTTP_OK) this.#open.delete(key)
  }

  #ms(): number {
    return performance.now() - this.run.startedAt
  }
}

function isAskedAgain(statusCode: number): boolean {
  return statusCode === 425 || statusCode === 429 || statusCode >= 500
}

function toPayload(payload: unknown, ids: BranchIds): unknown {
  return typeof payload === 'function' ? payload(ids) : payload
}

/**
 * Rejects at the time limit, because a handler in process need not look at the signal. The timer keeps the process
 * alive, unlike the timer of an AbortSignal.
 */
async function answerWithin<Answer>(
  { timeoutMs, late }: { readonly timeoutMs: number; readonly late: TimeOver },
  send: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const timedOut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(late)
      controller.abort()
    }, timeoutMs)
  })
  try {
    return await Promise.race([send(controller.signal), timedOut])
  } finally {
    clearTimeout(timer)
  }
}

/** Reads the reason of an error. `fetch` hides it in the cause. */
function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
