import type {
  AbortRequest,
  MessageSubmitRequest,
  Op,
  SagaSubmitRequest,
  TccBranchRequest,
  TccSubmitRequest,
} from '@counterstep/protocol'
import { withBranchSecrets, withSecrets } from '@counterstep/test-servers/with-secrets'
import type { HostileBranches, HostileUrl } from './hostile-branches.ts'

/** Which call of a transaction meets the hostile branch. */
export const ROLES = ['action', 'compensation', 'confirm', 'cancel', 'delivery'] as const
export type Role = (typeof ROLES)[number]

export interface HostileCase {
  readonly gid: string
  readonly role: Role
  readonly hostile: HostileUrl
  readonly op: Op
  /** The status that the transaction must reach when the branch has got well. */
  readonly end: 'succeeded' | 'failed'
}

/** One request after the other. */
export interface Step {
  readonly path: string
  readonly body?:
    | SagaSubmitRequest
    | TccSubmitRequest
    | TccBranchRequest
    | MessageSubmitRequest
    | AbortRequest
}

export const BRANCH_TIMEOUT_MS = 1_000
const PREPARED_MS = 600_000
const TRANSACTIONS = '/v1/transactions'

export function hostileCases(hostile: HostileUrl): readonly HostileCase[] {
  return ROLES.map((role) => ({
    gid: `${role}:${hostile.name}`,
    role,
    hostile,
    op: OPS[role],
    end: toEnd(role, hostile),
  }))
}

export function toSteps(hostileCase: HostileCase, branches: HostileBranches): readonly Step[] {
  const { gid, role, hostile } = hostileCase
  const { wellUrl, refusingUrl } = branches
  const timeoutMs = BRANCH_TIMEOUT_MS
  const well = { action: wellUrl, compensation: wellUrl }
  switch (role) {
    case 'action':
      return [submit({ gid, timeoutMs, branches: [well, { ...well, action: hostile.url }] })]
    case 'compensation': {
      const undone = { ...well, compensation: hostile.url }
      return [submit({ gid, timeoutMs, branches: [undone, { action: refusingUrl }] })]
    }
    case 'confirm':
      return [...tcc(gid, { confirm: hostile.url, cancel: wellUrl }), { path: `${toPath(gid)}/submit` }]
    case 'cancel':
      return [
        ...tcc(gid, { confirm: wellUrl, cancel: hostile.url }),
        { path: `${toPath(gid)}/abort`, body: {} },
      ]
    case 'delivery':
      return [submit({ kind: 'message', gid, timeoutMs, branches: [{ action: hostile.url }] })]
  }
}

export function toPath(gid: string): string {
  return `${TRANSACTIONS}/${encodeURIComponent(gid)}`
}

function submit(body: SagaSubmitRequest | TccSubmitRequest | MessageSubmitRequest): Step {
  return { path: TRANSACTIONS, body: withSecrets(body) }
}

function tcc(gid: string, urls: Pick<TccBranchRequest, 'confirm' | 'cancel'>): readonly Step[] {
  const branch: TccBranchRequest = { id: '01', timeoutMs: BRANCH_TIMEOUT_MS, ...urls }
  return [
    submit({ kind: 'tcc', gid, deadlineMs: PREPARED_MS }),
    { path: `${toPath(gid)}/branches`, body: withBranchSecrets(branch) },
  ]
}

const OPS: Readonly<Record<Role, Op>> = {
  action: 'action',
  compensation: 'compensate',
  confirm: 'confirm',
  cancel: 'cancel',
  delivery: 'action',
}

/** Only an action that was refused explicitly turns its saga around. */
function toEnd(role: Role, { meaning }: HostileUrl): HostileCase['end'] {
  if (role === 'compensation' || role === 'cancel') return 'failed'
  return role === 'action' && meaning === 'failure' ? 'failed' : 'succeeded'
}
