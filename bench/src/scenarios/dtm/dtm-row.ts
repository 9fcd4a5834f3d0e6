import { checkEqual } from '../../check-counts.ts'
import { type Branch, startBranch } from '../../harness/branch.ts'
import { toTimedLength } from '../../load/to-timed-length.ts'
import { uniqueText } from '../../load/unique-text.ts'
import { type Measurement, measure, type RowSource, type Worker } from '../../rounds.ts'
import type { ScenarioContext } from '../../scenario.ts'
import { dtmJob, readDtmStatus } from './dtm-job.ts'

/** Any server that speaks DTM's dialect, asked for sagas whose branches are ours. */
export class DtmRow implements RowSource {
  readonly name: string
  readonly target: string
  readonly #context: ScenarioContext
  readonly #branch: Branch
  readonly #worker: Worker
  /** One for each round, the beginning of all its gids. */
  readonly #uniques: string[] = []
  #answers = 0

  private constructor(
    name: string,
    context: ScenarioContext,
    target: string,
    branch: Branch,
    worker: Worker,
  ) {
    this.name = name
    this.#context = context
    this.target = target
    this.#branch = branch
    this.#worker = worker
  }

  /** The worker is the server that is asked, where it is ours: CPU time of another's is not known. */
  static async open(
    name: string,
    context: ScenarioContext,
    target: string,
    worker: Worker = { name, cpuSeconds: () => undefined },
  ): Promise<DtmRow> {
    return new DtmRow(name, context, target, await startBranch(context.harness), worker)
  }

  async measure(): Promise<Measurement> {
    const { harness, settings } = this.#context
    const unique = `bench-${process.pid}-${Date.now().toString(36)}-${this.#uniques.length + 1}`
    this.#uniques.push(unique)
    const { branches, connections } = settings
    const job = dtmJob(this.target, this.#branch.url, branches, unique, connections, toTimedLength(settings))
    const measured = await measure(harness, {
      name: this.name,
      job,
      workers: [this.#worker, this.#branch.child],
    })
    this.#answers += measured.answers
    return measured
  }

  /**
   * Counts the branch calls, and asks for the first saga of each connection in each round: the dialect has no list that
   * shows all rows on all of DTM's stores.
   */
  async audit(): Promise<Readonly<Record<string, number>>> {
    const { branches, connections } = this.#context.settings
    const branchCalls = await this.#branch.callCount()
    checkEqual({ callsExpected: this.#answers * branches, branchCalls })
    let asked = 0
    for (const unique of this.#uniques) {
      for (let connection = 1; connection <= connections; connection += 1) {
        const gid = uniqueText(unique, connection, 1)
        const status = await readDtmStatus(this.target, gid)
        if (status !== 'succeed') throw new Error(`${this.name}: ${gid} is ${status ?? 'not known'}`)
        asked += 1
      }
    }
    return { answers: this.#answers, branchCalls, asked }
  }
}
