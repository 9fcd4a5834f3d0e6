import type {
  BulkView,
  Kind,
  Op,
  OperatorCommand,
  SignalView,
  Status,
  TransactionView,
} from '@counterstep/protocol'
import type { Death } from './service/aimed-death.ts'
import type { TokenKind } from './tokens/token.ts'

/** One branch as its client meant it. */
export interface PlannedBranch {
  readonly id: string
  /** Which bank serves it. */
  readonly bank: number
  readonly account: string
  /** The amount that its action adds to the account; its compensation takes it back. */
  readonly cents: number
  /** The kinds of ids that its compensation must be given, where the orchestrator knows them. */
  readonly undoNeeds?: readonly TokenKind[]
}

/** The transaction that a client means to run under one gid. */
export interface PlannedTransaction {
  readonly gid: string
  readonly kind: Kind
  /**
   * A workflow has the moves here that its function may make, each on an account of its own. The function decides which of
   * them it makes, and a local step gets its branch id then.
   */
  readonly branches: readonly PlannedBranch[]
  readonly approval?: PlannedApproval
  /** The slots of a workflow's first plan, and of each later one. */
  readonly grants?: number
}

/** The branches around the point of no return, and the payloads that the saga's signals may have. */
export interface PlannedApproval {
  readonly wait: string
  readonly timer: string
  readonly pivot: string
  readonly retriable: string
  readonly tokens: readonly string[]
}

/** The kind of a client's request. `other-content` submits something else under a gid that was accepted. */
export type Ask = 'submit' | 'other-content' | 'abort' | 'look' | 'signal'

export type ClientAnswer =
  | {
      readonly type: 'view'
      readonly statusCode: number
      readonly status: Status
      /** When its open wait for a signal ends. */
      readonly waitEndsAt?: number
      /** The saga has passed its point of no return. */
      readonly hasMark?: boolean
    }
  | { readonly type: 'signal'; readonly statusCode: number; readonly id: string; readonly state: SignalState }
  | { readonly type: 'problem'; readonly statusCode: number; readonly code: string }
  | { readonly type: 'none'; readonly why: string }

export type SignalState = SignalView['state']

/** One question of a client and what it heard, by one monotonic clock. */
export interface ClientNote {
  readonly gid: string
  readonly ask: Ask
  readonly askedAt: number
  readonly answeredAt: number
  readonly answer: ClientAnswer
}

/** One command of an operator, with the answer that it got in the end. All its copies had one id. */
export interface CommandNote {
  readonly gid: string
  readonly id: string
  readonly command: OperatorCommand
  readonly op?: { readonly branchId: string; readonly op: Op }
  /** `durable`, or the code with which it was refused. */
  readonly outcome: string
  /** How many answers were lost before this one. */
  readonly lost: number
  /** It was sent once more after it was durable, under the same id, and answered as durable again. */
  readonly isRepeated?: true
  /** The instants by the machine's clock. */
  readonly askedAt: number
  readonly answeredAt: number
  /** The transaction may have ended before it. */
  readonly mayComeTooLate?: true
}

/** All that operators did: their commands, their bulk jobs, and the transactions as a server showed them when all was over. */
export interface OperatorEvidence {
  readonly commands: readonly CommandNote[]
  readonly jobs: readonly BulkView[]
  readonly views: readonly TransactionView[]
}

/** One arrival at a bank, seen in front of it. */
export interface BranchCallNote {
  readonly gid: string
  readonly branchId: string
  readonly op: Op
  /** The instant by the machine's clock, which is also that of the store. */
  readonly at: number
  /** Undefined: the bank's answer is not known. */
  readonly statusCode?: number
  /** The code of the body, if it has one. */
  readonly code?: string
  /** Sent by the network once more, not by the orchestrator. */
  readonly isCopy: boolean
  /** The orchestrator had given the call up before the bank answered, so it may have been sent long before it arrived. */
  readonly isCallerGone?: true
  /** The call asks a workflow's handler for a plan, and grants it slots. */
  readonly grant?: GrantNote
  /** A hash of the request without what counts its attempts. */
  readonly request: string
  /** The ids that stand in the request, and those that stand in its answer. */
  readonly given: readonly string[]
  readonly told: readonly string[]
}

/** A plan call that grants slots. */
export interface GrantNote {
  /** The number of the plan. */
  readonly plan: number
  /** The highest slot that it grants. */
  readonly lastSlot: number
  /** A hash of each entry of its journal. */
  readonly journal: readonly string[]
}

/** A transaction as the orchestrator's own database holds it. */
export interface StoredRow {
  readonly gid: string
  readonly kind: Kind
  readonly status: Status
  /** It waits for a person. */
  readonly attention: boolean
}

/** One accepted write of a row, as the store's own history has it. */
export interface StatusWrite {
  readonly gid: string
  readonly status: Status
  readonly epoch: number
}

/** The first write of a row that has a step of its workflow. */
export interface RecordedStep {
  readonly gid: string
  readonly branchId: string
  /** The instant of the write by the machine's clock, before its commit. */
  readonly at: number
  /** The abort decision is in that write, or in an earlier one. */
  readonly isAfterTurn: boolean
}

/** The first write of a workflow's row that grants slots up to this one. */
export interface RecordedGrant {
  readonly gid: string
  /** Undefined: those that its submit asks for, which the accept grants. */
  readonly lastSlot: number | undefined
  readonly at: number
}

/** One row of a bank's ledger, in the order of its commits within one branch. */
export interface Effect {
  readonly seq: number
  readonly gid: string
  readonly branchId: string
  readonly op: Op
  readonly account: string
  readonly cents: number
}

export interface Account {
  readonly id: string
  readonly initialCents: number
  readonly balanceCents: number
}

/** An op that a null compensation has blocked for good. */
export interface BlockedOp {
  readonly gid: string
  readonly branchId: string
  readonly op: Op
}

/** The content of one bank's database. */
export interface BankBooks {
  readonly accounts: readonly Account[]
  readonly effects: readonly Effect[]
  readonly blocked: readonly BlockedOp[]
}

/** Everything that an audit looks at. */
export interface Evidence {
  readonly planned: ReadonlyMap<string, PlannedTransaction>
  readonly notes: readonly ClientNote[]
  readonly calls: readonly BranchCallNote[]
  readonly rows: ReadonlyMap<string, StoredRow>
  readonly writes: readonly StatusWrite[]
  readonly banks: readonly BankBooks[]
  /** The sagas that were to be approved, as a server showed them when all was over. */
  readonly approvals: readonly TransactionView[]
  /** The workflows, as a server showed them when all was over. */
  readonly workflows: readonly TransactionView[]
  readonly recordedSteps: readonly RecordedStep[]
  readonly recordedGrants: readonly RecordedGrant[]
  /** The deaths of handlers that were ordered. */
  readonly deaths: readonly Death[]
  readonly operators: OperatorEvidence
  /** Secrets that stood in a log or an answer, each with where it stood. */
  readonly shownSecrets: readonly string[]
}
