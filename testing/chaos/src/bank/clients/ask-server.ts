import { STATUSES, type Status, type TransactionView } from '@counterstep/protocol'
import type { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { Agent, errors, request } from 'undici'
import type { ClientAnswer, SignalState } from '../evidence.ts'
import { AUTHORIZED } from '../processes/api-key.ts'

const ANSWER_MS_MAX = 6_000

export interface Question {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly body?: unknown
  readonly waitSeconds?: number
}

/** Connections of clients through the fault proxies. */
export class ServerAsker {
  readonly #watch: SecretWatch
  readonly #agent = new Agent({ connections: 64, pipelining: 1, connect: { timeout: 2_000 } })

  constructor(watch: SecretWatch) {
    this.#watch = watch
  }

  async ask({ method, url, body, waitSeconds }: Question): Promise<ClientAnswer> {
    try {
      const response = await request(url, {
        method,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: {
          ...AUTHORIZED,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(waitSeconds === undefined ? {} : { prefer: `wait=${waitSeconds}` }),
        },
      })
      const text = await response.body.text()
      this.#watch.hear('answers to clients', JSON.stringify(response.headers) + text)
      return readAnswer(response.statusCode, JSON.parse(text))
    } catch (error: unknown) {
      return { type: 'none', why: describeLoss(error) }
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

function readAnswer(statusCode: number, body: unknown): ClientAnswer {
  const { status, code, id, state } = body as Readonly<Record<string, unknown>>
  if (statusCode < 300 && isSignalState(state)) return { type: 'signal', statusCode, id: String(id), state }
  if (statusCode < 300) {
    const view = body as Partial<TransactionView>
    const waitEndsAt = findWaitEnd(view)
    return {
      type: 'view',
      statusCode,
      status: readStatus(status),
      ...(waitEndsAt === undefined ? {} : { waitEndsAt }),
      ...(view.noReturnAt === undefined ? {} : { hasMark: true }),
    }
  }
  return { type: 'problem', statusCode, code: String(code) }
}

function isSignalState(state: unknown): state is SignalState {
  return state === 'taken' || state === 'kept'
}

/** When an open wait for a signal ends. */
function findWaitEnd({ branches = [] }: Partial<TransactionView>): number | undefined {
  const open = branches.find(({ wait, ops }) => wait?.signal !== undefined && ops[0]?.state === 'open')
  return open?.ops[0]?.nextAt
}

function readStatus(word: unknown): Status {
  const status = STATUSES.find((each) => each === word)
  if (status === undefined) throw new Error(`a server answers the status ${String(word)}`)
  return status
}

/** A connection that ended, or an answer that did not come in time. Anything else is a fault of the run. */
function describeLoss(error: unknown): string {
  if (error instanceof errors.UndiciError) return error.code
  if (error instanceof DOMException) return error.name
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  if (error instanceof SyntaxError) return 'HALF_AN_ANSWER'
  throw error
}
