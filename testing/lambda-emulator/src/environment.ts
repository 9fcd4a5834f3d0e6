import { createDeferred } from './deferred.ts'
import { type EnvironmentProcess, startEnvironmentProcess } from './environment-process.ts'
import { type FunctionSpec, toArn } from './function-spec.ts'
import type { RuntimeClient } from './install-runtime-client.ts'
import type { FunctionError, InvocationOutcome, InvocationReport } from './invocation.ts'
import { type Delivery, openRuntimeApi, type RuntimeApi } from './runtime-api.ts'

/**
 * AWS has this limit too. It then starts the environment a second time within the first invocation, which this emulator
 * does not do.
 */
const INIT_MS_MAX = 10_000

/**
 * An environment is `busy` while it is reserved for an invocation, and `frozen` while its process is stopped and may be
 * taken. It is `gone` when its process has ended or is being killed.
 */
export type EnvironmentState = 'busy' | 'frozen' | 'gone'

type Ending = Pick<InvocationReport, 'outcome'> & {
  readonly payload?: string
  readonly error?: FunctionError
}

interface Invocation {
  readonly requestId: string
  readonly end: (ending: Ending) => void
}

/** An environment is a process that handles one event at a time and is stopped in between, as in AWS. */
export class Environment {
  readonly id: number
  readonly ended: Promise<string>
  readonly #spec: FunctionSpec
  readonly #startedAt = Date.now()
  readonly #ready = createDeferred<undefined | FunctionError>()
  readonly #ended = createDeferred<string>()
  #state: EnvironmentState = 'busy'
  #process: EnvironmentProcess | undefined
  #api: RuntimeApi | undefined
  #deliver: ((delivery: Delivery) => void) | undefined
  #invocation: Invocation | undefined
  #deadline: NodeJS.Timeout | undefined
  #initMs: number | undefined
  #initError: FunctionError | undefined
  #isLate = false
  #invocations = 0
  #event: Delivery | undefined
  #acknowledge: (() => void) | undefined

  constructor(client: RuntimeClient, spec: FunctionSpec, id: number) {
    this.id = id
    this.#spec = spec
    this.ended = this.#ended.promise
    this.#start(client).catch((error: unknown) => this.#onEnd(String(error)))
  }

  get state(): EnvironmentState {
    return this.#state
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  isTooOld(): boolean {
    const ageMsMax = this.#spec.recycleAfter?.ageMs ?? Number.POSITIVE_INFINITY
    return Date.now() - this.#startedAt >= ageMsMax
  }

  /** Reserves it for one invocation, which must follow. A new environment is already reserved. */
  take(): void {
    this.#state = 'busy'
  }

  async invoke(payload: string, requestId: string): Promise<InvocationOutcome> {
    const failure = await this.#ready.promise
    const initMs = this.#invocations === 0 ? this.#initMs : undefined
    const report = (outcome: InvocationReport['outcome'], durationMs: number): InvocationReport => ({
      ...{ functionName: this.#spec.name, requestId, environment: this.id, pid: this.pid, outcome, initMs },
      ...{ durationMs, rssBytesMax: this.#process?.rssBytesMax() ?? 0, endedAt: Date.now() },
    })
    if (failure !== undefined) return { type: 'failed', error: failure, report: report('failed', 0) }
    const { ending, durationMs } = await this.#run(payload, requestId)
    const { outcome, payload: answer = '', error = NO_ERROR } = ending
    const told = report(outcome, durationMs)
    return outcome === 'answered'
      ? { type: outcome, payload: answer, report: told }
      : { type: outcome, error, report: told }
  }

  /** Kills the process with SIGKILL. An invocation that is under way fails. */
  kill(): void {
    this.#state = 'gone'
    this.#process?.kill()
  }

  async #start(client: RuntimeClient): Promise<void> {
    this.#api = await openRuntimeApi({
      onNext: (deliver) => this.#onNext(deliver),
      onAnswer: (id, payload, acknowledge) =>
        this.#onAnswer(id, { outcome: 'answered', payload }, acknowledge),
      onError: (id, error, acknowledge) => this.#onAnswer(id, { outcome: 'failed', error }, acknowledge),
      onInitError: (error) => {
        this.#initError = error
      },
    })
    // The environment may have been killed while its API was being opened.
    if (this.#state === 'gone') {
      this.#onEnd('SIGKILL')
      return
    }
    this.#process = startEnvironmentProcess(client, this.#spec, this.id, this.#api.address)
    const { initTimeoutMs = INIT_MS_MAX } = this.#spec
    this.#deadline = setTimeout(() => {
      this.#initError = describeInitTimeout(initTimeoutMs)
      this.kill()
    }, initTimeoutMs)
    void this.#process.ended.then((how) => this.#onEnd(how))
  }

  async #run(payload: string, requestId: string): Promise<{ ending: Ending; durationMs: number }> {
    if (this.#invocation !== undefined) throw new Error('one event at a time')
    const { timeoutMs } = this.#spec
    const startedAt = Date.now()
    const { promise, resolve } = createDeferred<Ending>()
    this.#invocation = { requestId, end: resolve }
    this.#event = { requestId, payload, functionArn: toArn(this.#spec), deadlineAt: startedAt + timeoutMs }
    const killAfterMs = this.#spec.killAfterMs?.() ?? timeoutMs
    this.#deadline = setTimeout(
      () => {
        this.#isLate = true
        this.kill()
      },
      Math.min(killAfterMs, timeoutMs),
    )
    this.#thaw()
    this.#tryToDeliver()
    const ending = await promise
    return { ending, durationMs: Date.now() - startedAt }
  }

  /** Handles the client's request for an event. The first request shows that the environment is initialised. */
  #onNext(deliver: (delivery: Delivery) => void): void {
    this.#deliver = deliver
    if (this.#initMs === undefined) {
      clearTimeout(this.#deadline)
      this.#initMs = Date.now() - this.#startedAt
      this.#ready.resolve(undefined)
    }
    this.#tryToDeliver()
  }

  /** Delivers the event once it is here and the client has asked for one. The two come in either order. */
  #tryToDeliver(): void {
    if (this.#event === undefined || this.#deliver === undefined) return
    const [event, deliver] = [this.#event, this.#deliver]
    this.#event = undefined
    this.#deliver = undefined
    deliver(event)
  }

  /**
   * Takes an answer and stops the process before the answer is acknowledged. Until then the client does nothing else, so
   * no further line of the handler runs. A real environment may run for some milliseconds more.
   */
  #onAnswer(requestId: string, ending: Ending, acknowledge: () => void): boolean {
    if (this.#invocation?.requestId !== requestId) return false
    clearTimeout(this.#deadline)
    this.#acknowledge = acknowledge
    if (this.#state === 'busy') {
      this.#process?.freeze()
      this.#state = 'frozen'
    }
    this.#end(ending)
    if (this.#isUsedUp()) this.kill()
    return true
  }

  #thaw(): void {
    this.#process?.thaw()
    this.#acknowledge?.()
    this.#acknowledge = undefined
  }

  #end(ending: Ending): void {
    this.#invocations += 1
    this.#invocation?.end(ending)
    this.#invocation = undefined
  }

  #onEnd(how: string): void {
    clearTimeout(this.#deadline)
    this.#state = 'gone'
    this.#api?.close()
    this.#ready.resolve(this.#initError ?? describeExit(how))
    const { requestId = '' } = this.#invocation ?? {}
    const { timeoutMs } = this.#spec
    this.#end(
      this.#isLate
        ? { outcome: 'timed-out', error: describeTimeout(requestId, timeoutMs) }
        : { outcome: 'failed', error: describeExit(how) },
    )
    this.#ended.resolve(how)
  }

  #isUsedUp(): boolean {
    const invocationsMax = this.#spec.recycleAfter?.invocations ?? Number.POSITIVE_INFINITY
    return this.#invocations >= invocationsMax || this.isTooOld()
  }
}

const MS_PER_SECOND = 1000
const NO_ERROR: FunctionError = { errorType: 'Unknown', errorMessage: '' }

function describeExit(how: string): FunctionError {
  return { errorType: 'Runtime.ExitError', errorMessage: `Error: Runtime exited: ${how}` }
}

function describeTimeout(requestId: string, timeoutMs: number): FunctionError {
  const seconds = (timeoutMs / MS_PER_SECOND).toFixed(2)
  return {
    errorType: 'Sandbox.Timedout',
    errorMessage: `RequestId: ${requestId} Error: Task timed out after ${seconds} seconds`,
  }
}

function describeInitTimeout(initTimeoutMs: number): FunctionError {
  return {
    errorType: 'Sandbox.Timedout',
    errorMessage: `Error: initialisation timed out after ${initTimeoutMs} ms`,
  }
}
