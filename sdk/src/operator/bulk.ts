import type { BulkCommand, BulkListView, BulkPreview, BulkView } from '@counterstep/protocol'
import { toQuery } from '../list.ts'
import type { CallOptions, ListFilter } from '../options.ts'
import type { Setup } from '../setup.ts'
import { toJson } from '../to-json.ts'
import { look, lookByPost } from './look.ts'

/**
 * One command for many transactions: those with the `gids`, or those that match the `filter`. Exactly one of the two
 * must be there.
 *
 * @example
 * ```ts
 * const order: BulkOptions = { command: 'retry', filter: { problem: 'bank-a compensate 500' }, reason: 'bank-a is mended' }
 * ```
 */
export interface BulkOptions {
  readonly command: BulkCommand
  /** At most 1,000. */
  readonly gids?: readonly string[]
  /** Only unfinished transactions count. */
  readonly filter?: Omit<ListFilter, 'order' | 'limit' | 'cursor'>
  /** The `previewed` of a preview with the same filter: the job acts on no transaction that has come to match since. */
  readonly previewed?: string
  /** It is kept in the trail of each transaction. */
  readonly reason: string
  /** The default is 20, and the most is 500. */
  readonly ratePerSecond?: number
  /** The first so many get the command alone, and the others follow once these have got on. The default is 10. */
  readonly canary?: number
  /** The default and the most is 10,000. */
  readonly max?: number
}

/**
 * Gives one command to many transactions. The server does it as a job, which another node goes on with after a crash.
 *
 * @example
 * ```ts
 * const { count, previewed } = await operator.bulk.preview(order)
 * const { id } = await operator.bulk.start({ ...order, previewed })
 * console.log(count, (await operator.bulk.show(id)).counts)
 * ```
 */
export interface Bulk {
  /** Says which transactions a job would act on, and changes nothing. */
  preview(order: BulkOptions, options?: CallOptions): Promise<BulkPreview>
  /**
   * Starts a job. It is sent once, since a second one would be another job: after an UnavailableError see `list`. Throws
   * SAGA_TOO_MANY_JOBS.
   */
  start(order: BulkOptions, options?: Pick<CallOptions, 'signal'>): Promise<BulkView>
  /** Lists the jobs, the newest first, without their counts. */
  list(options?: CallOptions): Promise<BulkListView>
  /** Reads a job with its counts. Throws SAGA_UNKNOWN_JOB. */
  show(id: string, options?: CallOptions): Promise<BulkView>
  /** Lets a job give no more commands. Throws SAGA_JOB_ENDED. */
  pause(id: string, options?: CallOptions): Promise<BulkView>
  resume(id: string, options?: CallOptions): Promise<BulkView>
  /** Ends a job. What it has commanded stays. */
  cancel(id: string, options?: CallOptions): Promise<BulkView>
}

const PATH = '/v1/bulk'

export function createBulk(setup: Setup): Bulk {
  const command =
    (verb: string) =>
    (id: string, options: CallOptions = {}) =>
      lookByPost<BulkView>(setup, { path: `${toPath(id)}/${verb}`, property: 'id' }, undefined, options)
  return {
    preview: (order, options = {}) =>
      lookByPost(setup, { path: `${PATH}?dryRun=true`, property: 'groups' }, toBody(order), options),
    start: (order, options = {}) =>
      lookByPost(setup, { path: PATH, property: 'id' }, toBody(order), { ...options, retryForMs: 0 }),
    list: (options = {}) => look(setup, { path: PATH, property: 'items' }, options),
    show: (id, options = {}) => look(setup, { path: toPath(id), property: 'id' }, options),
    pause: command('pause'),
    resume: command('resume'),
    cancel: command('cancel'),
  }
}

function toPath(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`
}

function toBody({ filter, ...order }: BulkOptions): string {
  return toJson(filter === undefined ? order : { ...order, filter: toQuery(filter) }, '')
}
