import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import type { PlanFailure } from '@counterstep/protocol'
import { answerPlan, parsePlanCall, type WorkflowProgram } from '@counterstep/workflow'

const BUDGET_MS = 5_000

export interface Reply {
  readonly status?: number
  readonly contentType?: string
  readonly body: string
}

export interface ServedCall {
  readonly kind: string
  readonly op: string
  readonly path: string
  readonly body: string
}

/** Answers the text of a plan call. */
export type AnswerPlanCall = (call: string) => Reply | Promise<Reply>

/** The function of a workflow throws it, and gets it from a call that was refused. */
export class OrderFailure extends Error {
  readonly failed: PlanFailure

  constructor(failed: PlanFailure) {
    super(failed.message)
    this.failed = failed
  }
}

/** Answers plan calls by this function, as a handler does. */
export function answerBy(run: WorkflowProgram['run']): AnswerPlanCall {
  const program: WorkflowProgram = { name: 'order', version: 1, hasBarrier: false, run }
  return async function answer(call) {
    const startedAt = performance.now()
    const plan = await answerPlan([program], parsePlanCall(call), {
      nextTurn: () => setImmediate(),
      runStep: () => Promise.reject(new Error('no step was granted')),
      elapsedMs: () => performance.now() - startedAt,
      budgetMs: BUDGET_MS,
      createFailure: (failed) => new OrderFailure(failed),
      readFailure: (error) => (error instanceof OrderFailure ? error.failed : undefined),
    })
    return { body: JSON.stringify(plan) }
  }
}

/**
 * Serves the handler of a workflow under `/workflows`, and every other path as a participant. A path that the test says nothing
 * of answers 200 with a number of its own.
 */
export class WorkflowServices implements AsyncDisposable {
  readonly url: string
  readonly calls: ServedCall[] = []
  /** It may be replaced while the workflow runs, as a deployment does. */
  answerPlan: AnswerPlanCall
  readonly #replies: Readonly<Record<string, Reply>>
  readonly #server: Server

  private constructor(
    server: Server,
    answerPlanCall: AnswerPlanCall,
    replies: Readonly<Record<string, Reply>>,
  ) {
    this.#server = server
    this.answerPlan = answerPlanCall
    this.#replies = replies
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open(
    answer: AnswerPlanCall,
    replies: Readonly<Record<string, Reply>> = {},
  ): Promise<WorkflowServices> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const services = new WorkflowServices(server, answer, replies)
    server.on('request', async (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', services.url)
      const [kind, op] = [searchParams.get('trans_type') ?? '', searchParams.get('op') ?? '']
      const call = { kind, op, path: pathname, body: await text(request) }
      services.calls.push(call)
      send(response, await services.#answer(call))
    })
    return services
  }

  /** Lists the calls as `saga action /charges`, the plan calls left out. */
  get calledSteps(): readonly string[] {
    return this.calls.filter(({ op }) => op !== 'plan').map(({ kind, op, path }) => `${kind} ${op} ${path}`)
  }

  async #answer({ op, path, body }: ServedCall): Promise<Reply> {
    if (op === 'plan') return this.answerPlan(body)
    return this.#replies[path] ?? { body: JSON.stringify({ id: this.calledSteps.length }) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

function send(
  response: ServerResponse,
  { status = 200, contentType = 'application/json', body }: Reply,
): void {
  response.writeHead(status, { 'content-type': contentType }).end(body)
}
