import { type Gate, type Guard, tellRetryAfter } from '@counterstep/access'
import { isCounterstepError } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'
import { abort } from '../commands/abort.ts'
import type { CommandDeps } from '../commands/deps.ts'
import { prepare } from '../commands/prepare.ts'
import { registerBranch } from '../commands/register-branch.ts'
import { submit } from '../commands/submit.ts'
import type { GoValue } from '../go-json/go-value.ts'
import type { DialectMetrics } from '../metrics/dialect-metrics.ts'
import { type Answer, answerWith } from '../wire/answer.ts'
import { JSON_RPC_CODES, type JsonRpcError, type JsonRpcProblem, readJsonRpc } from '../wire/read-json-rpc.ts'
import { toRegistration } from '../wire/read-registration.ts'
import { toRequest } from '../wire/read-request.ts'
import { type ReportError, toAnswer } from './handle-error.ts'
import { createGid } from './new-gid.ts'
import { readCallerDeps } from './read-caller-deps.ts'
import { STORE_BRANCH, STORE_TRANSACTION, SUBMIT, SUBMIT_OR_ADMIN } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'
import { isRefusal } from './send-refusal.ts'
import { takeBody } from './take-body.ts'
import { type Command, measureCommand } from './transaction-commands.ts'

/** Gin has sent the status of a body that it cannot read before DTM answers. */
const TEXT_TYPE = 'text/plain; charset=utf-8'

export interface JsonRpcDeps {
  readonly commands: CommandDeps
  readonly gate: Gate
  readonly metrics: DialectMetrics
  readonly report: ReportError
}

interface Method {
  /** It is asked once the method is known, as the guard of the same command's own route. */
  readonly guard: Guard
  /** Reads the params, and returns what runs the command. The params themselves are not in memory then. Throws for params that it cannot read. */
  readonly read: (params: GoValue) => Run
  readonly hasResult?: true
}

type Run = (deps: CommandDeps) => Promise<Answer>

interface Call {
  readonly id: string
  readonly name: string
  readonly method: Method
  readonly run: Run
}

/** Adds the one route by which a client gives DTM's commands as JSON-RPC. Nearly each answer has the status 200. */
export function addJsonRpcRoute(
  app: FastifyInstance,
  { commands, gate, metrics, report }: JsonRpcDeps,
): void {
  const methods = buildMethods(gate, metrics)
  // The key is asked for at the head, and by the guard of its method once more: a call counts twice for its key's rate.
  app.post('/api/json-rpc', SUBMIT_OR_ADMIN, async (request, reply) => {
    const call = readCall(takeBody(request), methods)
    if ('problem' in call) {
      const answer = answerCall(call.id, null, call.problem)
      const isUnread = call.problem.code === JSON_RPC_CODES.parse
      return sendAnswer(reply, isUnread ? { ...answer, status: 400, contentType: TEXT_TYPE } : answer)
    }
    const { id, name, method, run } = call
    const verdict = method.guard(request.raw)
    if (verdict instanceof Error) {
      tellRetryAfter(reply, verdict)
      throw verdict
    }
    const asked = { ...commands, ...readCallerDeps(name, gate, request, reply) }
    const answer = await answerErrors(() => run(asked), report)
    return sendAnswer(reply, wrapAnswer(id, method, answer))
  })
}

function buildMethods(gate: Gate, metrics: DialectMetrics): ReadonlyMap<string, Method> {
  const build = ({ config }: typeof SUBMIT, read: Method['read']): Method => ({
    guard: gate.buildGuard(config.access, true, config.stores),
    read,
  })
  const command = (guarded: typeof SUBMIT, run: Command) =>
    build(guarded, (params) => {
      const request = toRequest(params)
      return (deps) => run(request, deps)
    })
  return new Map([
    ['newGid', { ...build(SUBMIT, () => async () => answerWith({ gid: createGid() })), hasResult: true }],
    ['prepare', command(STORE_TRANSACTION, prepare)],
    ['submit', command(STORE_TRANSACTION, measureCommand(submit, metrics))],
    ['abort', command(SUBMIT_OR_ADMIN, measureCommand(abort, metrics))],
    [
      'registerBranch',
      build(STORE_BRANCH, (params) => {
        const registration = toRegistration(params)
        return (deps) => registerBranch(registration, deps)
      }),
    ],
  ])
}

/** Reads the whole call. A fault of its params is told when it runs, since its method's guard is asked before. */
function readCall(body: string, methods: ReadonlyMap<string, Method>): Call | JsonRpcProblem {
  const call = readJsonRpc(body)
  if ('problem' in call) return call
  const { id, method: name, params } = call
  const method = methods.get(name)
  if (method === undefined)
    return { id, problem: { code: JSON_RPC_CODES.unknownMethod, message: `Method not found: ${name}` } }
  return { id, name, method, run: readParams(method, params) }
}

function readParams({ read }: Method, params: GoValue): Run {
  try {
    return read(params)
  } catch (error: unknown) {
    return () => Promise.reject(error)
  }
}

/** Throws refusals alone, which have statuses of their own over JSON-RPC, too. */
async function answerErrors(running: () => Promise<Answer>, report: ReportError): Promise<Answer> {
  try {
    return await running()
  } catch (error: unknown) {
    if (isCounterstepError(error) && isRefusal(error)) throw error
    return toAnswer(error, report)
  }
}

/** The word at the end of the message tells a failure, as over HTTP. DTM has no code of its own for what is ongoing. */
function wrapAnswer(id: string, { hasResult }: Method, { status, body }: Answer): Answer {
  const outcome: Readonly<Record<string, unknown>> = JSON.parse(body)
  if (status === 200) return answerCall(id, hasResult ? outcome : null, null)
  const code = status === 409 ? JSON_RPC_CODES.failure : JSON_RPC_CODES.error
  // DTM has an empty result beside a failure, and none beside another error.
  return answerCall(id, status === 409 ? {} : null, { code, message: String(outcome.message) })
}

function answerCall(id: string, result: unknown, error: JsonRpcError | null): Answer {
  return answerWith({ error, id, jsonrpc: '2.0', result })
}
