import { checkEqual } from '../../check-counts.ts'
import { type Branch, startBranch, startGrpcBranch } from '../../harness/branch.ts'
import { toTimedLength } from '../../load/to-timed-length.ts'
import { uniqueText } from '../../load/unique-text.ts'
import { FIRST_WARM_UPS, type Measurement, measure, type RowSource, type Worker } from '../../rounds.ts'
import type { ScenarioContext } from '../../scenario.ts'
import { dtmGrpcJob } from './dtm-grpc-job.ts'
import { dtmJob, readDtmStatus } from './dtm-job.ts'
import { withStoreCpu } from './store-cpu.ts'

/** A server that speaks DTM's dialect. */
export interface DtmServer {
  readonly name: string
  /** The URL of its HTTP API. */
  readonly url: string
  /** Its gRPC API, as HOST:PORT, where that is asked, too. */
  readonly grpcAddress?: string
  /** The server and its database, where they are ours: CPU time of others is not known. */
  readonly workers: readonly Worker[]
}

/** Any server that speaks DTM's dialect, asked for sagas whose branches are ours. */
export class DtmRow implements RowSource {
  readonly name: string
  readonly server: DtmServer
  /** It is asked over gRPC, and not over HTTP. */
  readonly isGrpc: boolean
  readonly #context: ScenarioContext
  readonly #branch: Branch
  /** One for each round, the beginning of all its gids. */
  readonly #uniques: string[] = []
  #answers = 0

  private constructor(
    name: string,
    context: ScenarioContext,
    server: DtmServer,
    branch: Branch,
    isGrpc: boolean,
  ) {
    this.name = name
    this.#context = context
    this.server = server
    this.#branch = branch
    this.isGrpc = isGrpc
  }

  /** Opens a row over HTTP and, where the server has an address for that, one over gRPC. */
  static async openAll(
    context: ScenarioContext,
    server: DtmServer,
  ): Promise<readonly [http: DtmRow, ...grpc: DtmRow[]]> {
    const { harness } = context
    const { name } = server
    const http = new DtmRow(name, context, server, await startBranch(harness), false)
    if (server.grpcAddress === undefined) return [http]
    return [http, new DtmRow(toGrpcName(name), context, server, await startGrpcBranch(harness), true)]
  }

  get answers(): number {
    return this.#answers
  }

  async measure(): Promise<Measurement> {
    const { harness } = this.#context
    const unique = `bench-${process.pid}-${Date.now().toString(36)}-${this.#uniques.length + 1}`
    this.#uniques.push(unique)
    const workers = [...this.server.workers, this.#branch.child]
    const measured = await measure(harness, { name: this.name, job: this.#toJob(unique), workers })
    this.#answers += measured.answers
    return withStoreCpu(measured, workers)
  }

  #toJob(unique: string) {
    const { settings } = this.#context
    const { branches, connections } = settings
    const { url, grpcAddress = '' } = this.server
    const isFirst = this.#uniques.length === 1
    const warmUps = isFirst ? FIRST_WARM_UPS : 1
    const length = toTimedLength({ ...settings, warmUpSeconds: warmUps * settings.warmUpSeconds })
    return this.isGrpc
      ? dtmGrpcJob(grpcAddress, new URL(this.#branch.url).host, branches, unique, connections, length)
      : dtmJob(url, this.#branch.url, branches, unique, connections, length)
  }

  /**
   * Counts the branch calls, and asks for the first saga of each connection in each round: the dialect has no list that
   * shows all rows on all of DTM's stores. It is asked over HTTP, since it has no query over gRPC.
   */
  async audit(): Promise<Readonly<Record<string, number>>> {
    const { branches, connections } = this.#context.settings
    const branchCalls = await this.#branch.callCount()
    checkEqual({ [`${this.name}: callsExpected`]: this.#answers * branches, branchCalls })
    let asked = 0
    for (const unique of this.#uniques) {
      for (let connection = 1; connection <= connections; connection += 1) {
        const gid = uniqueText(unique, connection, 1)
        const status = await readDtmStatus(this.server.url, gid)
        if (status !== 'succeed') throw new Error(`${this.name}: ${gid} is ${status ?? 'not known'}`)
        asked += 1
      }
    }
    return { answers: this.#answers, branchCalls, asked }
  }
}

/** Names the row over gRPC, or a ratio of two of them, after the one over HTTP. */
export function toGrpcName(name: string): string {
  return `${name}, gRPC`
}
