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
import { toLane } from '@counterstep/engine'
import type { Admitted, CallGuard } from './call-guard.ts'
import { DTM_SERVICE } from './descriptor.ts'
import { FIELDS_MAX, hasTooManyFields } from './field-count.ts'
import { type GrpcCall, OK } from './grpc-call.ts'
import { buildRequestShape } from './message-shape.ts'
import type { DtmBranchMessage, DtmRequestMessage, DtmTopicMessage } from './messages.ts'
import type { Method, Methods } from './method.ts'
import { DTM_METHODS, type DtmMethod, type MethodAccess } from './method-access.ts'
import type { Protobuf } from './protobuf.ts'
import { readRegistration, readRequest } from './read-message.ts'
import { toProgressesReply } from './to-progresses-reply.ts'
import { toErrorStatus, toStatus } from './to-status.ts'

export interface MethodDeps {
  readonly dialect: Dialect
  readonly gate: Gate
  readonly guard: CallGuard
  readonly protobuf: Protobuf
  readonly report: ReportError
}

type Run<Message> = (message: Message, deps: CommandDeps) => Promise<Answer>

/** Makes the methods of DTM's service. Each runs the same command as the route of DTM's HTTP API. */
export class DtmMethods {
  readonly #deps: MethodDeps

  constructor(deps: MethodDeps) {
    this.#deps = deps
  }

  build(): Methods {
    const { topics, metrics } = this.#deps.dialect
    const submitMeasured = measureCommand(submit, metrics)
    const abortMeasured = measureCommand(abort, metrics)
    return new Map([
      this.#serve('NewGid', async () => answerWith({ Gid: createGid() })),
      this.#serve('Submit', (message: DtmRequestMessage, deps) => submitMeasured(readRequest(message), deps)),
      this.#serve('Prepare', (message: DtmRequestMessage, deps) => prepare(readRequest(message), deps)),
      this.#serve('Abort', (message: DtmRequestMessage, deps) => abortMeasured(readRequest(message), deps)),
      this.#serve('RegisterBranch', (message: DtmBranchMessage, deps) =>
        registerBranch(readRegistration(message), deps, {
          text: message.BusiPayload.toString('base64'),
          isBase64: true,
        }),
      ),
      this.#serve('PrepareWorkflow', (message: DtmRequestMessage, deps) =>
        prepareWorkflow(readRequest(message), deps).then(toProgressesReply),
      ),
      this.#serve('Subscribe', async ({ Topic, URL: url, Remark }: DtmTopicMessage) => {
        await topics.subscribe(Topic, url, Remark)
        return SUCCESS
      }),
      this.#serve('Unsubscribe', async ({ Topic, URL: url }: DtmTopicMessage) => {
        await topics.unsubscribe(Topic, url)
        return SUCCESS
      }),
      this.#serve('DeleteTopic', async ({ Topic }: DtmTopicMessage) => {
        await topics.remove(Topic)
        return SUCCESS
      }),
    ])
  }

  #serve<Message>(name: DtmMethod, command: Run<Message>): readonly [string, Method] {
    const access: MethodAccess = DTM_METHODS[name]
    const { dialect, guard, report, protobuf } = this.#deps
    const codec = protobuf.buildCodec<Message>(DTM_SERVICE, name)
    const shape = buildRequestShape(name)
    // This is no async function, since such a one would hold the message while its caller waits for the end.
    const run = (bytes: Buffer, call: GrpcCall, admitted: Admitted): Promise<Answer> => {
      const message = hasTooManyFields(bytes, shape) ? undefined : codec.decode(bytes)
      try {
        if (message === undefined) throw refuseUnprocessable(`a message has more than ${FIELDS_MAX} fields`)
        const deps = this.#buildCommandDeps(name, access, admitted, bytes.length)
        return command(message, { ...deps, watchCaller: () => watchCaller(call) })
      } catch (error: unknown) {
        return Promise.reject(error)
      }
    }
    const answer = async (
      call: GrpcCall,
      admitted: Admitted,
      startedAt: number,
      running: Promise<Answer>,
    ) => {
      const ended = await running.then(
        (answer) => ({ status: toStatus(answer), reply: answer === SUCCESS ? {} : readReply(answer) }),
        (error: unknown) => ({ status: toErrorStatus(error, report), reply: {} }),
      )
      const seconds = (performance.now() - startedAt) / 1_000
      dialect.metrics.countAnswer(name.toLowerCase(), ended.status === undefined, seconds, 'grpc')
      if (ended.status === undefined) {
        const reply = codec.encode(ended.reply)
        guard.holdAnswer(admitted, call, reply.length)
        call.send(reply)
      }
      call.end(ended.status ?? OK)
    }
    return [
      `/${DTM_SERVICE}/${name}`,
      {
        access,
        open: (call, admitted) => (message) =>
          answer(call, admitted, performance.now(), run(message, call, admitted)),
      },
    ]
  }

  /** Counts what the call stores. Throws the refusal. */
  #buildCommandDeps(name: DtmMethod, access: MethodAccess, admitted: Admitted, bytes: number): CommandDeps {
    const { dialect, gate, guard } = this.#deps
    const head = access.stores === undefined ? admitted.head : guard.countStored(admitted, access, bytes)
    const { traceparent, tracestate } = head.headers
    const { takeStored } = gate
    return {
      ...dialect.commands,
      caller: toLane(admitted.caller, name.toLowerCase()),
      trace: { traceparent: toText(traceparent), tracestate: toText(tracestate) },
      ...(takeStored && {
        takeBytes(more: number) {
          const refusal = takeStored(head, more)
          if (refusal !== undefined) throw refusal
        },
      }),
    }
  }
}

/** Returns a signal that aborts when a call has ended before it was answered. */
function watchCaller(call: GrpcCall): AbortSignal {
  const gone = new AbortController()
  call.onClosed(() => {
    if (!call.isAnswered) gone.abort()
  })
  return gone.signal
}

function readReply({ status, body }: Answer): object {
  return status === 200 ? (JSON.parse(body) as object) : {}
}

function toText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
