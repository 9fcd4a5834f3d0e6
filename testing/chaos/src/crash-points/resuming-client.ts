import { setTimeout as sleep } from 'node:timers/promises'
import {
  isFinalStatus,
  type SignalRequest,
  type SignalView,
  type SubmitRequest,
  type TransactionView,
} from '@counterstep/protocol'
import type { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { withSecrets } from '@counterstep/test-servers/with-secrets'

const TRY_EVERY_MS = 20

export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** Speaks to a node that may die at any moment: what has no definite answer is sent again to the next one. */
export class ResumingClient {
  readonly #watch: SecretWatch
  #url: string | undefined
  readonly #acknowledged = new Set<string>()
  readonly #seenFinal = new Map<string, string>()
  /** The states of the signals that were acknowledged, by gid and id. */
  readonly #signals = new Map<string, SignalView['state']>()
  readonly faults: string[] = []

  /** `watch` hears every answer. */
  constructor(watch: SecretWatch) {
    this.#watch = watch
  }

  /** Undefined while no node is up. */
  useNode(url: string | undefined): void {
    this.#url = url
  }

  get acknowledged(): ReadonlySet<string> {
    return this.#acknowledged
  }

  async submit(request: SubmitRequest & { readonly gid: string }, waitSeconds = 0): Promise<void> {
    const headers: Record<string, string> = waitSeconds > 0 ? { prefer: `wait=${waitSeconds}` } : {}
    const { status, body } = await this.send('POST', '/v1/transactions', withSecrets(request), headers)
    if (status !== 200 && status !== 202) this.faults.push(`submit of ${request.gid} answered ${status}`)
    this.#acknowledged.add(request.gid)
    this.#see(body as TransactionView)
  }

  /**
   * Gives a signal, also in the time before its wait is open. A signal that was acknowledged must be in every later view.
   * It is refused only where it comes too late.
   */
  async signal(gid: string, name: string, signal: SignalRequest): Promise<void> {
    const { status, body } = await this.send('POST', `/v1/transactions/${gid}/signals/${name}`, signal)
    const { code, state } = body as { readonly code?: string; readonly state?: SignalView['state'] }
    if (status === 200) this.#signals.set(`${gid} ${signal.id}`, state ?? 'kept')
    else if (code !== 'SAGA_TURNED_AROUND' && code !== 'SAGA_ALREADY_FINAL')
      this.faults.push(`I34: a signal of ${gid} was answered ${status} ${code}`)
  }

  /** Sends until there is a definite answer, which is not always a good one. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    for (;;) {
      const url = this.#url
      const answer = url === undefined ? undefined : await this.#tryOnce(url + path, method, body, headers)
      if (answer !== undefined && answer.status !== 503) return answer
      await sleep(TRY_EVERY_MS)
    }
  }

  /** Undefined: it does not exist. */
  async look(url: string, gid: string): Promise<TransactionView | undefined> {
    const acknowledged = [...this.#signals].filter(([key]) => key.startsWith(`${gid} `))
    const answer = await this.#tryOnce(`${url}/v1/transactions/${gid}`, 'GET', undefined, {})
    if (answer === undefined) throw new NodeGoneError(gid)
    if (answer.status === 404) return undefined
    if (answer.status !== 200) throw new Error(`GET of ${gid} answered ${answer.status}`)
    const view = answer.body as TransactionView
    this.#see(view)
    this.faults.push(...findLostSignals(view, acknowledged))
    return view
  }

  /** Undefined: no answer. */
  async #tryOnce(
    url: string,
    method: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer | undefined> {
    try {
      const response = await fetch(url, {
        method,
        headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      this.#watch.hear('answers to clients', text)
      return { status: response.status, body: JSON.parse(text) }
    } catch (error: unknown) {
      // fetch reports a lost connection so, and a body that was cut; anything else is a fault of the harness.
      if (error instanceof TypeError || error instanceof SyntaxError) return undefined
      throw error
    }
  }

  /** Checks that a final status that a client saw stays as it was seen (I18). */
  #see({ gid, status }: TransactionView): void {
    const before = this.#seenFinal.get(gid)
    if (before !== undefined && before !== status) this.faults.push(`${gid} was ${before}, then ${status}`)
    if (isFinalStatus(status)) this.#seenFinal.set(gid, status)
  }
}

function findLostSignals(
  { gid, signals = [] }: TransactionView,
  acknowledged: readonly (readonly [key: string, state: SignalView['state']])[],
): string[] {
  return acknowledged.flatMap(([key, state]) => {
    const stored = signals.find(({ id }) => key === `${gid} ${id}`)
    if (stored === undefined) return [`I34: a signal was acknowledged and is lost: ${key}`]
    return state === 'taken' && stored.state !== 'taken'
      ? [`I34: a signal was taken and is kept: ${key}`]
      : []
  })
}

export class NodeGoneError extends Error {
  override readonly name = 'NodeGoneError'
}
