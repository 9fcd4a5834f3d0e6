// Types of the protocol under the names that users import, each with the text that an editor shows.
import type * as protocol from '@counterstep/protocol'

/**
 * Says who gave a command: the key that was used, and the name that a person gave at the console's login, which is not
 * proven.
 *
 * @example
 * ```ts
 * const nameOf = ({ person, key }: Actor) => person ?? key?.name ?? 'without a key'
 * ```
 */
export type Actor = protocol.Actor

/**
 * A row of attempts of one call that had the same outcome: a status such as `500`, or a word such as `timeout`.
 *
 * @example
 * ```ts
 * const told = ({ outcome, count }: AttemptRun) => `${outcome} ×${count}`
 * ```
 */
export type AttemptRun = protocol.AttemptRun

/**
 * The transactions that a bulk job would act on, counted and grouped by what they wait for.
 *
 * @example
 * ```ts
 * const { count, isExact }: BulkPreview = await operator.bulk.preview(order)
 * ```
 */
export type BulkPreview = protocol.BulkPreview

/**
 * A bulk job. total = waiting + given + refused + gone, and given = gotOn + failedAgain + notAnswered.
 *
 * @example
 * ```ts
 * const hasEnded = ({ state }: BulkView) => state === 'done' || state === 'cancelled'
 * ```
 */
export type BulkView = protocol.BulkView

/**
 * The names of transactions, with what ended in the last hour and how long it took.
 *
 * @example
 * ```ts
 * const { items }: NamesView = await operator.names()
 * for (const { name, latency } of items) console.log(name, latency.p95Ms)
 * ```
 */
export type NamesView = protocol.NamesView

/**
 * The view that an operator looks at first: whether anything needs a person, what is unfinished, and how the nodes are.
 *
 * @example
 * ```ts
 * const { attention, oldestDueAt }: OverviewView = await operator.overview()
 * ```
 */
export type OverviewView = protocol.OverviewView

/**
 * One call that would follow from a command. `ran` says whether what it undoes or repeats has run.
 *
 * @example
 * ```ts
 * const told = ({ op, branchId, ran }: PlannedCall) => `${op} ${branchId} (has run: ${ran})`
 * ```
 */
export type PlannedCall = protocol.PlannedCall

/**
 * The calls that would follow from a command, if every one succeeded. Give its `planId` with the command, so that the command is
 * refused if it would do something else by then.
 *
 * @example
 * ```ts
 * const plan: PlanView = await operator.preview('order-4720', { command: 'abort' })
 * if (plan.cannotUndo.length === 0) await operator.abort('order-4720', { reason: 'late', planId: plan.planId })
 * ```
 */
export type PlanView = protocol.PlanView

/**
 * The command that a preview is asked about.
 *
 * @example
 * ```ts
 * const skip: PreviewRequest = { command: 'skip', op: { branchId: 'debit', op: 'compensate' }, doneBy: 'hand' }
 * ```
 */
export type PreviewRequest = protocol.PreviewRequest

/**
 * The transactions that wait for one reason, `SERVICE OP OUTCOME`.
 *
 * @example
 * ```ts
 * const told = ({ problem, waiting }: ProblemView) => `${waiting} × ${problem}`
 * ```
 */
export type ProblemView = protocol.ProblemView

/**
 * All problems, the most frequent first.
 *
 * @example
 * ```ts
 * const { items }: ProblemsView = await operator.problems()
 * ```
 */
export type ProblemsView = protocol.ProblemsView

/**
 * One service: how it answered in the last minutes, and how many transactions wait for it.
 *
 * @example
 * ```ts
 * const isDown = ({ looksDown }: ServiceView) => looksDown
 * ```
 */
export type ServiceView = protocol.ServiceView

/**
 * The services that the servers call.
 *
 * @example
 * ```ts
 * const { items }: ServicesView = await operator.services()
 * ```
 */
export type ServicesView = protocol.ServicesView

/**
 * One command in the history of a transaction: who gave it, when, and why.
 *
 * @example
 * ```ts
 * const told = ({ command, reason }: TrailEntry) => `${command}: ${reason ?? '-'}`
 * ```
 */
export type TrailEntry = protocol.TrailEntry

/**
 * The requests of a transaction, as its branches get them, and the submit that would make it anew.
 *
 * @example
 * ```ts
 * const { ops }: TransactionRequestView = await operator.request('order-4711')
 * for (const { branchId, op, url } of ops) console.log(branchId, op, url)
 * ```
 */
export type TransactionRequestView = protocol.TransactionRequestView

/**
 * The panels that a key may read.
 *
 * @example
 * ```ts
 * const { items }: PanelsView = await operator.panels()
 * ```
 */
export type PanelsView = protocol.PanelsView

/**
 * A table of what a server has beside transactions: each row has one cell for each column.
 *
 * @example
 * ```ts
 * const { columns, rows }: PanelView = await operator.panel('settings')
 * ```
 */
export type PanelView = protocol.PanelView
