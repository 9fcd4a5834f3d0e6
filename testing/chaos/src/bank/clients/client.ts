import { setTimeout as delay } from 'node:timers/promises'
import { isFinalStatus } from '@counterstep/protocol'
import { canary } from '@counterstep/test-servers/canary'
import type { Ask, ClientAnswer, ClientNote } from '../evidence.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { Question, ServerAsker } from './ask-server.ts'
import type { SignalPlan } from './plan-hold.ts'
import type { ClientPlan } from './plan-transaction.ts'

const TRY_AGAIN_MS_MIN = 30
const TRY_AGAIN_MS_MAX = 400
const WAIT_SECONDS = 2
const LOOKS_MAX = 3
/** Shorter than any wait for a signal. */
const LOOK_EVERY_MS = 50

export interface ClientDeps {
  readonly asker: ServerAsker
  /** The URLs of every server, through its proxy. */
  readonly urls: readonly string[]
  readonly random: SeededRandom
  readonly note: (note: ClientNote) => void
  /** Tells that the client need not wait for an end any more: the audit judges transactions that have none by now. */
  readonly isOver: () => boolean
}

/** A client as one should be: in doubt it sends the same again, to whichever server. */
export class Client {
  readonly #deps: ClientDeps

  constructor(deps: ClientDeps) {
    this.#deps = deps
  }

  /** False: it was told that it was not accepted, and has left. */
  async submit(plan: ClientPlan): Promise<boolean> {
    for (let tries = 0; ; tries++) {
      const answer = await this.#submitOnce(plan)
      if (answer.type === 'view') return true
      if (plan.givesUp && tries === 0 && isNotAccepted(answer)) return false
      // The audit judges the meaning of a conflict with the client's own content.
      if (answer.type === 'problem' && answer.statusCode === 409) return true
      if (isRefusal(answer)) throw new Error(`a submit is refused: ${JSON.stringify(answer)}`)
      await this.#pause()
    }
  }

  /** Does what the plan says for the time after the accept. */
  async follow(plan: ClientPlan): Promise<void> {
    await Promise.all([
      this.#manage(plan),
      plan.signals === undefined ? undefined : this.#signal(plan, plan.signals),
    ])
  }

  async #manage(plan: ClientPlan): Promise<void> {
    const { gid } = plan.request
    if (plan.again === 'same') await this.#submitOnce(plan)
    if (plan.again === 'other-content') await this.#submitOther(plan)
    switch (plan.after) {
      case 'leave':
        return
      case 'wait':
        while (!isEnd(await this.#submitOnce(plan)) && !this.#deps.isOver()) await this.#pause()
        return
      case 'look':
        for (let looks = 0; looks < LOOKS_MAX; looks++) {
          if (isEnd(await this.#ask(gid, 'look', { method: 'GET', url: `/${gid}` }))) return
          await this.#pause()
        }
        return
      case 'abort':
        await delay(plan.abortAfterMs)
        await this.abort(gid)
    }
  }

  async abort(gid: string): Promise<void> {
    while (!isDefinite(await this.#ask(gid, 'abort', { method: 'POST', url: `/${gid}/abort` }))) {
      await this.#pause()
    }
  }

  /** Sends the signals of all people at once, each copy until it has an answer. */
  async #signal({ request: { gid } }: ClientPlan, { name, when, afterMs, sent }: SignalPlan): Promise<void> {
    if (when === 'never') return
    if (when === 'later') await delay(afterMs)
    if (when === 'timeout') {
      const endsAt = await this.#findEnd(gid)
      if (endsAt === undefined) return
      await delay(Math.max(0, endsAt + afterMs - Date.now()))
    }
    const copies = sent.flatMap((each) => Array.from({ length: each.copies }, () => each))
    await Promise.all(
      copies.map(async ({ id, token }) => {
        const body = { id, payload: { id: token, secret: canary('payload') } }
        const question = { method: 'POST', url: `/${gid}/signals/${name}`, body } as const
        while (!isDefinite(await this.#ask(gid, 'signal', question)) && !this.#deps.isOver())
          await this.#pause()
      }),
    )
  }

  /** Looks until the wait is open, and returns when it ends. Undefined: the saga has ended. */
  async #findEnd(gid: string): Promise<number | undefined> {
    while (!this.#deps.isOver()) {
      const answer = await this.#ask(gid, 'look', { method: 'GET', url: `/${gid}` })
      if (answer.type === 'view' && answer.waitEndsAt !== undefined) return answer.waitEndsAt
      if (isEnd(answer)) return undefined
      await delay(LOOK_EVERY_MS)
    }
    return undefined
  }

  #pause(): Promise<void> {
    return delay(this.#deps.random.between(TRY_AGAIN_MS_MIN, TRY_AGAIN_MS_MAX))
  }

  #submitOnce({ request, after }: ClientPlan): Promise<ClientAnswer> {
    return this.#ask(request.gid, 'submit', {
      method: 'POST',
      url: '',
      body: request,
      ...(after === 'wait' ? { waitSeconds: WAIT_SECONDS } : {}),
    })
  }

  #submitOther({ request }: ClientPlan): Promise<ClientAnswer> {
    const body =
      request.kind === 'workflow'
        ? { ...request, input: null }
        : { ...request, branches: request.branches.slice(0, 1) }
    return this.#ask(request.gid, 'other-content', { method: 'POST', url: '', body })
  }

  async #ask(gid: string, ask: Ask, question: Question): Promise<ClientAnswer> {
    const { asker, urls, random, note } = this.#deps
    const url = `${random.pick(urls)}/v1/transactions${question.url}`
    const askedAt = performance.now()
    const answer = await asker.ask({ ...question, url })
    note({ gid, ask, askedAt, answeredAt: performance.now(), answer })
    return answer
  }
}

function isNotAccepted(answer: ClientAnswer): boolean {
  return answer.type === 'problem' && answer.code === 'SAGA_NOT_ACCEPTED'
}

function isEnd(answer: ClientAnswer): boolean {
  return answer.type === 'view' ? isFinalStatus(answer.status) : isRefusal(answer)
}

function isDefinite(answer: ClientAnswer): boolean {
  return answer.type === 'view' || answer.type === 'signal' || isRefusal(answer)
}

const TOO_MANY_REQUESTS = 429

/** A client that asks again after a refusal gets the same answer. 429 is no refusal: the client was only too early. */
function isRefusal(answer: ClientAnswer): boolean {
  return answer.type === 'problem' && answer.statusCode < 500 && answer.statusCode !== TOO_MANY_REQUESTS
}
