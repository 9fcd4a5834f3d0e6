import type { Branch } from '@counterstep/sdk'
import type { BranchFastifyReply, BranchFastifyRequest } from '@counterstep/sdk/fastify'
import type { TransferPayload } from './transfer-payload.ts'

export type BankRoute = (request: BranchFastifyRequest, reply: BranchFastifyReply) => Promise<unknown>

/** One bank's own database: accounts, barrier and ledger. */
export interface BankDatabase {
  /** Serves every op: `before` may throw; then the account and the ledger are written in one database transaction. */
  route(before: (branch: Branch<TransferPayload>) => void): BankRoute
  close(): Promise<void>
}

/** `none` is a bank that does what it is told as often as it is told: to show that the audit sees it. */
export type Guard = 'barrier' | 'none'

/** Returns the amount that an op adds to the account. */
export function toCents({ op, payload }: Branch<TransferPayload>): number {
  return op === 'compensate' || op === 'cancel' ? -payload.cents : payload.cents
}
