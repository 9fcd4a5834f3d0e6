/** The shapes that operators send and read: commands and what follows from them, problems, services, and nodes. */
import type { BulkCommand, BulkState, CommandFault, OperatorCommand } from './operator-words.ts'
import type { Actor } from './trail.ts'
import type { JsonValue, PayloadValue, RetryPolicy } from './wire.ts'
import type { Kind, Op, Status, UnfinishedStatus } from './words.ts'

/** The fields that every operator's command may have. */
export interface CommandRequest {
  /** 1 to 64 characters of `A-Z a-z 0-9 . _ : -`, chosen by the client. The same id again changes nothing. */
  readonly commandId?: string
  /** At most 1,024 characters. */
  readonly reason?: string
  /** The plan of a preview. A command that would do something else by now is refused with `SAGA_PLAN_CHANGED`. */
  readonly planId?: string
}

export interface PauseRequest extends CommandRequest {
  /** Epoch milliseconds. */
  readonly until?: number
}

export interface SkipRequest extends CommandRequest {
  readonly doneBy: 'service' | 'hand'
  readonly reason: string
  /** The answer of a skipped action, for the values that other branches take from it. */
  readonly answer?: PayloadValue
  readonly confirm?: 'no-call-took-effect'
}

export interface EditRequest extends CommandRequest {
  readonly reason: string
  readonly url?: string
  readonly payload?: PayloadValue
  /** It excludes `payload`. */
  readonly body?: string
  readonly contentType?: string
  /** They replace all headers of the op. */
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly retry?: Partial<RetryPolicy>
  readonly confirm?: 'no-call-took-effect'
}

/** This is the body of a preview: one command with its own fields. */
export interface PreviewRequest {
  readonly command: OperatorCommand
  /** Only skip, edit and the retry of one op have it. */
  readonly op?: { readonly branchId: string; readonly op: Op }
  readonly doneBy?: 'service' | 'hand'
  readonly until?: number
}

/** One call that would follow. */
export interface PlannedCall {
  readonly branchId: string
  readonly op: Op
  readonly url?: string
  /** Whether what this call undoes or repeats has run. */
  readonly ran: 'yes' | 'maybe' | 'no'
}

/** Shows what would follow from a command, if every call succeeded. */
export interface PlanView {
  readonly planId: string
  /** It is false on a node that does not run the transaction while another node does: then each branch counts as sent. */
  readonly exact: boolean
  /** The instant of the state that the plan is made from. */
  readonly asOf: number
  /** The calls of one list are made at once; each list follows the one before. */
  readonly steps: readonly (readonly PlannedCall[])[]
  /** The ids of the branches that may have run and have no compensation. */
  readonly cannotUndo: readonly string[]
  /** The services that did not answer the last attempt, by name. */
  readonly waitsFor: readonly string[]
  readonly ends: Status
  /** The command would be refused with this code and text. Then there are no steps. */
  readonly refusal?: CommandFault
  /** The command needs a reason, or the confirmation that no call took effect. */
  readonly needs: readonly ('reason' | 'confirm')[]
}

/** The requests of a transaction, as its branches are called. It may hold secrets. */
export interface TransactionRequestView {
  readonly gid: string
  readonly kind: Kind
  /** The body of a submit that would make the same transaction anew. Numbers and key order may differ from the first. */
  readonly submit: JsonValue
  readonly ops: readonly OpRequestView[]
}

export interface OpRequestView {
  readonly branchId: string
  readonly op: Op
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly body: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly edited?: true
  /** The requests before it took all the room: its body and its headers are left out, and the places in its URL are open. */
  readonly short?: true
}

/** The transactions that wait for one reason. */
export interface ProblemView {
  /** `SERVICE OP OUTCOME`, for example `bank-a compensate 500`. */
  readonly problem: string
  readonly waiting: number
  /** Those of them at which a person should look. */
  readonly attention: number
  /** When the oldest of them was accepted. */
  readonly oldestAt: number
}

export interface ProblemsView {
  readonly asOf: number
  /** The most first. At most 200, then one called `other`. */
  readonly items: readonly ProblemView[]
}

/** Counts of one minute. A list of minutes leaves out those in which nothing was counted. */
export interface MinuteCounts {
  readonly at: number
  readonly success: number
  readonly failure: number
  readonly ongoing: number
  readonly unknown: number
}

export interface LatencyView {
  readonly count: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
}

export interface ServiceOpView {
  readonly op: Op
  readonly minutes: readonly MinuteCounts[]
  /** The last hour. */
  readonly latency: LatencyView
}

export interface ServiceView {
  readonly service: string
  readonly ops: readonly ServiceOpView[]
  /** All ops together in the last 5 minutes. */
  readonly callsPerSecond: number
  readonly outcomes: Omit<MinuteCounts, 'at'>
  readonly latency: LatencyView
  /** The calls in flight, each on a connection of its own. */
  readonly connections: number
  /** The calls that wait for a connection. */
  readonly queued: number
  /** The unfinished transactions whose problem names this service. */
  readonly waiting: number
  readonly attention: number
  /** At least 20 calls in the last minute, and 90 % of them without a definite answer. */
  readonly looksDown: boolean
}

export interface ServicesView {
  readonly asOf: number
  /** The memory of this node begins here. */
  readonly since: number
  readonly nodes: number
  readonly items: readonly ServiceView[]
}

/** One name of transactions, or `-` for those without. */
export interface NameView {
  readonly name: string
  readonly minutes: readonly EndedMinute[]
  readonly latency: LatencyView
}

export interface EndedMinute {
  readonly at: number
  readonly accepted: number
  readonly succeeded: number
  readonly failed: number
  readonly stopped: number
}

export interface NamesView {
  readonly asOf: number
  readonly since: number
  readonly nodes: number
  readonly items: readonly NameView[]
}

export interface NodeView {
  readonly id: string
  readonly startedAt: number
  /** `gone`: it has not been heard from for 45 s. */
  readonly state: 'up' | 'gone'
  readonly seenAt: number
  readonly inFlight: number
  readonly inFlightMax: number
  /** The 99th percentile of the event loop's delay over the last minute. */
  readonly loopP99Ms: number
  readonly version: string
}

export interface OverviewView {
  readonly asOf: number
  readonly since: number
  readonly store: {
    readonly name: string
    readonly durabilityClass: 'A' | 'B' | 'C'
    readonly failover: 'none' | 'lossless' | 'lossy'
    /** `away`: the figures of the store are those of `asOf`. */
    readonly state: 'up' | 'away'
    /** When the figures of the store were read. 0: never. */
    readonly asOf: number
  }
  readonly unfinished: Readonly<Record<UnfinishedStatus, number>>
  readonly attention: number
  readonly paused: number
  readonly byHand: number
  readonly oldestDueAt?: number
  readonly oldestUnfinishedAt?: number
  readonly nodes: readonly NodeView[]
  /** All names together, the oldest minute first. */
  readonly minutes: readonly EndedMinute[]
  readonly latency: LatencyView
  readonly slowestNames: readonly NameFigure[]
  readonly mostFailedNames: readonly NameFigure[]
  /** Those that most calls gave no definite answer, and then the slowest. */
  readonly worstServices: readonly ServiceFigure[]
  readonly refusedSubmits: readonly { readonly code: string; readonly count: number }[]
}

export interface NameFigure {
  readonly name: string
  readonly ended: number
  readonly failed: number
  readonly p95Ms: number
}

export interface ServiceFigure {
  readonly service: string
  readonly calls: number
  readonly unknown: number
  readonly p95Ms: number
}

/** Opens a session. It is the body of a login. */
export interface LoginRequest {
  readonly key: string
  /** 1 to 64 visible characters. It stands in the trail of each command, and is not proven. */
  readonly person?: string
  /** Where the browser sees the root of the API. A proxy may have put a prefix before it. The default is that root itself. */
  readonly path?: string
}

/** Who a caller is, and what it may do. */
export interface SessionView {
  /** `local`: this server asks for no keys. */
  readonly via: 'console' | 'api' | 'local'
  readonly key?: { readonly id: string; readonly name: string }
  readonly person?: string
  readonly scopes: readonly string[]
  /** The session or the key ends at this instant. Absent: it does not end by itself. */
  readonly until?: number
}

/** This answers a login. */
export interface LoginView extends SessionView {
  /** It belongs into the header counterstep-console, beside the cookie. Absent: this server asks for no keys. */
  readonly secret?: string
}

/** This is the body of POST /v1/bulk: one command for many transactions. It has either `gids` or `filter`. */
export interface BulkRequest {
  readonly command: BulkCommand
  /** At most 1,000. */
  readonly gids?: readonly string[]
  /** The parameters of the list, as in its URL: `attention=true&problem=bank-a%20compensate%20500`. Only unfinished ones count. */
  readonly filter?: string
  /** The `previewed` of a preview with the same filter: the job acts on none that has come to match since. */
  readonly previewed?: string
  readonly reason: string
  /** The default is 20, and the most is 500. */
  readonly ratePerSecond?: number
  /** The first so many get the command alone, and the others follow once these have got on. The default is 10. */
  readonly canary?: number
  /** The default and the most is 10,000. */
  readonly max?: number
}

/** This is the answer to POST /v1/bulk?dryRun=true. Nothing is changed. */
export interface BulkPreview {
  readonly count: number
  /** It is false if the search for more was given up at a bound. */
  readonly isExact: boolean
  readonly oldestAt?: number
  /** The most first, at most 20. */
  readonly groups: readonly BulkGroup[]
  /** The gids of ten of them. */
  readonly samples: readonly string[]
  /** The whole list in short, for the request that starts the job. Absent where the gids were named. */
  readonly previewed?: string
}

export interface BulkGroup {
  readonly problem?: string
  readonly name?: string
  readonly count: number
}

/** A bulk job. total = waiting + given + refused + gone, and given = gotOn + failedAgain + notAnswered. */
export interface BulkView {
  readonly id: string
  readonly command: BulkCommand
  readonly reason: string
  readonly by: Actor
  readonly createdAt: number
  readonly filter?: string
  readonly ratePerSecond: number
  readonly canary: number
  readonly state: BulkState
  readonly stateSince: number
  /** `canary`: too few of the first got on. `refusals`: too many were refused. */
  readonly pausedBy?: 'canary' | 'refusals' | 'person'
  /** Absent in a list. */
  readonly counts?: BulkCountsView
}

export interface BulkCountsView {
  readonly total: number
  readonly waiting: number
  /** The command is durable. */
  readonly given: number
  /** The op that has waited was answered with success since. */
  readonly gotOn: number
  readonly failedAgain: number
  readonly notAnswered: number
  readonly refused: number
  readonly refusedBy: Readonly<Record<string, number>>
  /** Twenty of the refused ones, at most. */
  readonly refusals: readonly { readonly gid: string; readonly code: string }[]
  readonly gone: number
}

export interface BulkListView {
  readonly items: readonly BulkView[]
}
