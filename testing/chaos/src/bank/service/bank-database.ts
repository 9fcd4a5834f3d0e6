import type { Barrier, Branch } from '@counterstep/sdk'
import type { BranchFastifyReply, BranchFastifyRequest } from '@counterstep/sdk/fastify'
import type { BankWork } from './bank-work.ts'
import type { TransferPayload } from './transfer-payload.ts'
import type { StepTx } from './transfer-workflow.ts'

export type BankRoute = (request: BranchFastifyRequest, reply: BranchFastifyReply) => Promise<unknown>

/** One bank's own database: accounts, holds, barrier and ledger. */
export interface BankDatabase {
  /**
   * Serves every op of a work: `before` may throw; then the account, the hold and the ledger are written in one database
   * transaction.
   */
  route(before: (branch: Branch<TransferPayload>) => void, work: BankWork): BankRoute
  /** The same barrier, for the local steps of a workflow. */
  readonly stepBarrier: Barrier<StepTx>
  close(): Promise<void>
}

/** `none` is a bank that does what it is told as often as it is told: to show that the audit sees it. */
export type Guard = 'barrier' | 'none'
