import { randomUUID } from 'node:crypto'
import { Environment, type EnvironmentState } from './environment.ts'
import { type FunctionSpec, toArn } from './function-spec.ts'
import type { RuntimeClient } from './install-runtime-client.ts'
import type { InvocationOutcome } from './invocation.ts'
import { PAYLOAD_BYTES_MAX } from './runtime-api.ts'

export interface EnvironmentView {
  readonly id: number
  readonly pid: number
  readonly state: EnvironmentState
}

export interface LambdaFunction {
  readonly name: string
  readonly arn: string
  readonly timeoutMs: number
  /** Runs the handler once. A failure of the function is an outcome, and does not reject. */
  invoke(event: unknown): Promise<InvocationOutcome>
  /** Lists the living environments in the order of their start. */
  environments(): readonly EnvironmentView[]
  /** Kills every frozen environment, so that the next invocation starts cold. */
  recycle(): Promise<void>
  /** Kills all environments. */
  stop(): Promise<void>
}

export function startFunction(client: RuntimeClient, spec: FunctionSpec): LambdaFunction {
  const pool = new EnvironmentPool(client, spec)
  return {
    name: spec.name,
    arn: toArn(spec),
    timeoutMs: spec.timeoutMs,
    async invoke(event) {
      const payload = JSON.stringify(event)
      if (Buffer.byteLength(payload) > PAYLOAD_BYTES_MAX) {
        throw new RangeError(`an event may have ${PAYLOAD_BYTES_MAX} bytes`)
      }
      const environment = pool.take()
      if (environment === undefined) return { type: 'throttled' }
      const outcome = await environment.invoke(payload, randomUUID())
      if (outcome.type !== 'throttled') spec.onReport?.(outcome.report)
      return outcome
    },
    environments: () => pool.list().map(({ id, pid, state }) => ({ id, pid, state })),
    recycle: () => pool.kill(({ state }) => state === 'frozen'),
    stop: () => pool.close(),
  }
}

class EnvironmentPool {
  readonly #client: RuntimeClient
  readonly #spec: FunctionSpec
  readonly #alive = new Set<Environment>()
  #started = 0
  #isClosed = false

  constructor(client: RuntimeClient, spec: FunctionSpec) {
    this.#client = client
    this.#spec = spec
  }

  list(): readonly Environment[] {
    return [...this.#alive].filter(({ state }) => state !== 'gone')
  }

  /** Takes a frozen environment, or starts a new one. Returns undefined when all that may exist are busy. */
  take(): Environment | undefined {
    if (this.#isClosed) throw new Error(`${this.#spec.name} is stopped`)
    const frozen = this.#youngestFrozen()
    if (frozen === undefined) {
      return this.list().length < this.#spec.reservedConcurrency ? this.#start() : undefined
    }
    frozen.take()
    return frozen
  }

  async kill(isMeant: (environment: Environment) => boolean): Promise<void> {
    const meant = [...this.#alive].filter(isMeant)
    for (const environment of meant) environment.kill()
    await Promise.all(meant.map(({ ended }) => ended))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.kill(() => true)
  }

  #youngestFrozen(): Environment | undefined {
    for (const environment of this.list().toReversed()) {
      if (environment.state !== 'frozen') continue
      if (!environment.isTooOld()) return environment
      environment.kill()
    }
    return undefined
  }

  #start(): Environment {
    this.#started += 1
    const environment = new Environment(this.#client, this.#spec, this.#started)
    this.#alive.add(environment)
    void environment.ended.then(() => this.#alive.delete(environment))
    return environment
  }
}
