import type { Gate } from '@counterstep/access'
import type { Dialect } from '@counterstep/dtm'
import {
  type Answer,
  abort,
  answerWith,
  type CommandDeps,
  createGid,
  measureCommand,
  prepare,
  prepareWorkflow,
  type ReportError,
  refuseUnprocessable,
  registerBranch,
  SUCCESS,
  submit,
} from '@counterstep/dtm/commands'
import type { handleUnaryCall, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import type { CallGuard } from './call-guard.ts'
import { FIELDS_MAX, hasTooManyFields } from './field-count.ts'
import { buildRequestShape } from './message-shape.ts'
import type { DtmBranchMessage, DtmRequestMessage, DtmTopicMessage } from './messages.ts'
import { DTM_METHODS, type DtmMethod } from './method-access.ts'
import { readRegistration, readRequest } from './read-message.ts'
import { toProgressesReply } from './to-progresses-reply.ts'
import { type CallStatus, toErrorStatus, toStatus } from './to-status.ts'

export interface MethodDeps {
  readonly dialect: Dialect
  readonly gate: Gate
  readonly guard: CallGuard
  readonly report: ReportError
}

type Run<Message> = (message: Message, deps: CommandDeps) => Promise<Answer>

/** Makes the methods of DTM's service. Each runs the same command as the route of DTM's HTTP API. */
export class DtmMethods {
  readonly #deps: MethodDeps
  /** The bytes of each message, for the quota of its key. */
  readonly #bytes = new WeakMap<object, number>()
  /** These messages were not decoded. */
  readonly #refused = new WeakSet<object>()

  constructor(deps: MethodDeps) {
    this.#deps = deps
  }

  /** Notes the bytes of each message when it is decoded. A message with too many fields is not decoded. */
  countBytes(service: ServiceDefinition): ServiceDefinition {
    const counted = Object.entries(service).map(([name, method]) => {
      const shape = buildRequestShape(name)
      const requestDeserialize = (bytes: Buffer) => {
        const isTooMany = hasTooManyFields(bytes, shape)
        const message: object = method.requestDeserialize(isTooMany ? Buffer.alloc(0) : bytes)
        if (isTooMany) this.#refused.add(message)
        this.#bytes.set(message, bytes.length)
        return message
      }
      return [name, { ...method, requestDeserialize }]
    })
    return Object.fromEntries(counted) as ServiceDefinition
  }

  build(): UntypedServiceImplementation {
    const { dialect } = this.#deps
    const { topics, metrics } = dialect
    const submitMeasured = measureCommand(submit, metrics)
    const abortMeasured = measureCommand(abort, metrics)
    const run = <Message extends object>(name: DtmMethod, command: Run<Message>) =>
      this.#handle(name, command)
    return {
      NewGid: run('NewGid', async () => answerWith({ Gid: createGid() })),
      Submit: run('Submit', (message: DtmRequestMessage, deps) => submitMeasured(readRequest(message), deps)),
      Prepare: run('Prepare', (message: DtmRequestMessage, deps) => prepare(readRequest(message), deps)),
      Abort: run('Abort', (message: DtmRequestMessage, deps) => abortMeasured(readRequest(message), deps)),
      RegisterBranch: run('RegisterBranch', (message: DtmBranchMessage, deps) =>
        registerBranch(readRegistration(message), deps, {
          text: message.BusiPayload.toString('base64'),
          isBase64: true,
        }),
      ),
      PrepareWorkflow: run('PrepareWorkflow', async (message: DtmRequestMessage, deps) =>
        toProgressesReply(await prepareWorkflow(readRequest(message), deps)),
      ),
      Subscribe: run('Subscribe', async ({ Topic, URL: url, Remark }: DtmTopicMessage) => {
        await topics.subscribe(Topic, url, Remark)
        return SUCCESS
      }),
      Unsubscribe: run('Unsubscribe', async ({ Topic, URL: url }: DtmTopicMessage) => {
        await topics.unsubscribe(Topic, url)
        return SUCCESS
      }),
      DeleteTopic: run('DeleteTopic', async ({ Topic }: DtmTopicMessage) => {
        await topics.remove(Topic)
        return SUCCESS
      }),
    }
  }

  #handle<Message extends object>(name: DtmMethod, command: Run<Message>): handleUnaryCall<Message, object> {
    const { dialect, report } = this.#deps
    return (call, callback) => {
      const startedAt = performance.now()
      const finish = (status: CallStatus | undefined, reply: object) => {
        const seconds = (performance.now() - startedAt) / 1_000
        dialect.metrics.countAnswer(name.toLowerCase(), status === undefined, seconds, 'grpc')
        callback(status ?? null, status === undefined ? reply : null)
      }
      this.#run(name, command, call).then(
        (answer) => finish(toStatus(answer), answer === SUCCESS ? {} : readReply(answer)),
        (error: unknown) => finish(toErrorStatus(error, report), {}),
      )
    }
  }

  async #run<Message extends object>(
    name: DtmMethod,
    command: Run<Message>,
    { metadata, request }: Parameters<handleUnaryCall<Message, object>>[0],
  ): Promise<Answer> {
    if (this.#refused.has(request)) throw refuseUnprocessable(`a message has more than ${FIELDS_MAX} fields`)
    const { dialect, gate, guard } = this.#deps
    const admitted = guard.find(metadata)
    const method = DTM_METHODS[name]
    const stores = 'stores' in method
    const head = stores ? guard.countStored(admitted, method, this.#bytes.get(request) ?? 0) : admitted.head
    const { traceparent, tracestate } = head.headers
    const { takeStored } = gate
    return await command(request, {
      ...dialect.commands,
      caller: `${admitted.caller} ${name.toLowerCase()}`,
      trace: { traceparent: toText(traceparent), tracestate: toText(tracestate) },
      ...(takeStored && {
        takeBytes(bytes: number) {
          const refusal = takeStored(head, bytes)
          if (refusal !== undefined) throw refusal
        },
      }),
    })
  }
}

function readReply({ status, body }: Answer): object {
  return status === 200 ? (JSON.parse(body) as object) : {}
}

function toText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
