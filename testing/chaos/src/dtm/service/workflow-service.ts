import { appendFileSync } from 'node:fs'
import type { Connection, Pool } from 'mysql2/promise'
import type { DtmApi, DtmBranchView, DtmView } from '../dtm-api.ts'
import type { DeathPoint, OrderedDeath } from './ordered-death.ts'
import type { PlantedFault } from './planted-fault.ts'
import type { RunNote, StepReport, WorkflowEnd } from './run-note.ts'
import { applyEffect, insertBarrier } from './tables.ts'

export const WORKFLOW_NAME = 'transfer'
/** After so long without a report the client is called back. It is the shortest time that DTM's API can say. */
const RETRY_INTERVAL_S = 1

export interface WorkflowServiceDeps {
  readonly pool: Pool
  readonly api: DtmApi
  readonly death: OrderedDeath
  readonly fault: PlantedFault
  /** The file of the notes. */
  readonly notes: string
}

/** The data of a workflow. Step `refused` fails, so that the ones before it are undone. */
export interface WorkflowData {
  readonly steps: readonly { readonly account: number; readonly amount: number }[]
  readonly refused?: number
}

export interface WorkflowRun {
  readonly gid: string
  readonly data: WorkflowData
  readonly callbackUrl: string
  /** A point, and the branch for a step: the run leaves off there, as if its process had died. */
  readonly leavesAt?: string
}

type ShownWorkflow = Required<DtmView> & { readonly progresses: readonly DtmBranchView[] }

/** Runs workflows as DTM's Go client does: it skips what is reported, undoes what is done after a failure, and says the end. */
export class WorkflowService {
  readonly #deps: WorkflowServiceDeps

  constructor(deps: WorkflowServiceDeps) {
    this.#deps = deps
  }

  async run(run: WorkflowRun): Promise<WorkflowEnd> {
    const { gid, data } = run
    const shown = await this.#prepare(run)
    const before = shown.transaction?.status
    if (before === 'succeed' || before === 'failed') return before
    const done: number[] = []
    for (const index of data.steps.keys()) {
      if ((await this.#step(run, shown, { index, op: 'action' })) === 'failed') break
      done.push(index)
    }
    const status = done.length === data.steps.length ? 'succeed' : 'failed'
    if (status === 'failed')
      for (const index of done.reverse()) await this.#step(run, shown, { index, op: 'rollback' })
    const reason = status === 'failed' ? { rollback_reason: 'FAILURE' } : { result: 'moved' }
    this.#note({ type: 'ending', gid, status })
    await this.#ask('submit', { gid, trans_type: 'workflow', req_extra: { status, ...reason } })
    this.#note({ type: 'ended', gid, status })
    this.#reach(run, 'workflow-ended', '')
    return status
  }

  async #prepare({ gid, data, callbackUrl }: WorkflowRun): Promise<ShownWorkflow> {
    const text = Buffer.from(JSON.stringify(data)).toString('base64')
    const answer = await this.#ask('prepareWorkflow', {
      gid,
      trans_type: 'workflow',
      protocol: 'http',
      query_prepared: callbackUrl,
      custom_data: JSON.stringify({ name: WORKFLOW_NAME, data: text }),
      retry_interval: RETRY_INTERVAL_S,
    })
    this.#note({ type: 'prepared', gid })
    return JSON.parse(answer) as ShownWorkflow
  }

  async #step(
    run: WorkflowRun,
    { progresses }: ShownWorkflow,
    { index, op }: { readonly index: number; readonly op: 'action' | 'rollback' },
  ): Promise<WorkflowEnd> {
    const { gid, data } = run
    const branch = String(index + 1).padStart(2, '0')
    const known = progresses.find((each) => each.branch_id === branch && each.op === op)
    if (known !== undefined) return known.status === 'failed' ? 'failed' : 'succeed'
    const status = op === 'action' && data.refused === index ? 'failed' : 'succeed'
    if (status === 'succeed') await this.#takeEffect(run, { index, branch, op })
    this.#reach(run, 'step-done', branch)
    const report: StepReport = { branch, op, status, data: `${gid}/${branch}/${op}` }
    await this.#ask('registerBranch', {
      gid,
      trans_type: 'workflow',
      branch_id: branch,
      op,
      status,
      data: report.data,
    })
    this.#note({ type: 'reported', gid, ...report })
    this.#reach(run, 'step-reported', branch)
    return status
  }

  /** Takes effect once, behind the rows that DTM's barrier writes. */
  async #takeEffect(
    { gid, data }: WorkflowRun,
    { index, branch, op }: { readonly index: number; readonly branch: string; readonly op: string },
  ): Promise<void> {
    const { pool, fault } = this.#deps
    const { account, amount } = data.steps[index] ?? { account: 0, amount: 0 }
    const effect = { gid, branch, op, account, amount: op === 'rollback' ? -amount : amount }
    const connection = await pool.getConnection()
    try {
      await connection.query('BEGIN')
      if (fault === 'no-barrier' || (await isFirst(connection, { gid, branch, op })))
        await applyEffect(connection, effect)
      await connection.query('COMMIT')
      connection.release()
    } catch (error: unknown) {
      connection.destroy()
      throw error
    }
  }

  /** Returns the text of a success. Any other answer breaks the run off: its client is called back. */
  async #ask(command: string, body: unknown): Promise<string> {
    const { statusCode, text } = await this.#deps.api.ask(command, body)
    if (statusCode !== 200) throw new Error(`${command} is answered with ${statusCode}: ${text}`)
    return text
  }

  #reach({ leavesAt }: WorkflowRun, point: DeathPoint, branch: string): void {
    this.#deps.death.reach(point)
    if (leavesAt === point + branch) throw new Error(`the run leaves off at ${leavesAt}`)
  }

  #note(note: RunNote): void {
    appendFileSync(this.#deps.notes, `${JSON.stringify(note)}\n`)
  }
}

/** A rollback also takes the place of its action, so that one that never came has nothing to undo. */
async function isFirst(
  connection: Connection,
  { gid, branch, op }: { readonly gid: string; readonly branch: string; readonly op: string },
): Promise<boolean> {
  const isNull =
    op === 'rollback' && (await insertBarrier(connection, { gid, branch, op: 'action', reason: op }))
  return (await insertBarrier(connection, { gid, branch, op, reason: op })) && !isNull
}
