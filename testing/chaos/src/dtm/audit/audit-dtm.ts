import { groupBy } from '../../bank/audit/group-by.ts'
import type { XaTold } from '../clients/xa-client.ts'
import type { DtmView } from '../dtm-api.ts'
import type { DtmPlan, Move, RecordedPlan } from '../plan.ts'
import type { RunNote } from '../service/run-note.ts'
import { type Effect, START_BALANCE } from '../service/tables.ts'
import type { DtmEvidence } from './dtm-evidence.ts'
import type { DtmViolation } from './violation.ts'

type Found = Omit<DtmViolation, 'subject'>

/** Holds everything that was seen and everything that is stored to the invariants. Empty: nothing is wrong. */
export function auditDtm(evidence: DtmEvidence): readonly DtmViolation[] {
  const told = new Map(evidence.told.map((each) => [each.gid, each]))
  const notes = groupBy(evidence.notes, ({ gid }) => gid)
  const effects = groupBy(evidence.effects, ({ gid }) => gid)
  const ofPlans = evidence.plans.flatMap((plan) => {
    const { gid } = plan
    const seen = {
      views: evidence.views.get(gid) ?? [],
      effects: effects.get(gid) ?? [],
      told: told.get(gid),
      notes: notes.get(gid) ?? [],
      prepared: evidence.prepared.filter((xid) => xid.startsWith(`${gid}-`)),
    }
    return auditTransaction(plan, seen).map((found) => ({ ...found, subject: gid }))
  })
  return [...ofPlans, ...auditStrangers(evidence), ...auditMoney(evidence)]
}

interface Seen {
  readonly views: readonly DtmView[]
  readonly effects: readonly Effect[]
  readonly told: XaTold | undefined
  readonly notes: readonly RunNote[]
  readonly prepared: readonly string[]
}

function auditTransaction(plan: DtmPlan, seen: Seen): readonly Found[] {
  const view = seen.views.at(-1)
  const status = view?.transaction?.status
  const isAcknowledged = seen.told?.isPrepared === true || seen.notes.some((note) => note.type === 'prepared')
  return [
    ...auditStatus(seen.views, isAcknowledged),
    ...auditEffects(plan, status, seen),
    ...(plan.kind === 'xa'
      ? auditTold(status, seen.told)
      : auditRecorded(status, view?.branches ?? [], seen.notes)),
  ]
}

function auditStatus(views: readonly DtmView[], isAcknowledged: boolean): readonly Found[] {
  const statuses = views.map(({ transaction }) => transaction?.status)
  const found: Found[] = []
  if (isAcknowledged && statuses.at(-1) === undefined)
    found.push({ invariant: 'I1', detail: 'its prepare was acknowledged, and it is not stored' })
  if (statuses.some((status) => status !== undefined && !isEnd(status)))
    found.push({ invariant: 'L1', detail: `it has not ended: ${statuses.join(', ')}` })
  // A workflow that was not stored at first may have been begun by a replayed request.
  if (new Set(statuses.slice(statuses[0] === undefined ? 1 : 0)).size > 1)
    found.push({ invariant: 'I3', detail: `its status went on: ${statuses.join(', ')}` })
  return found
}

/** A transaction has moved its amount if it has succeeded, and otherwise nothing. */
function auditEffects(
  plan: DtmPlan,
  status: string | undefined,
  { effects, prepared }: Pick<Seen, 'effects' | 'prepared'>,
): readonly Found[] {
  const hasSucceeded = status === 'succeed'
  const invariant = hasSucceeded ? 'I5' : 'I6'
  const counts = new Map<string, number>()
  for (const { branch, op } of effects)
    counts.set(`${branch} ${op}`, (counts.get(`${branch} ${op}`) ?? 0) + 1)
  const sums = new Map<number, number>()
  for (const { account, amount } of effects) sums.set(account, (sums.get(account) ?? 0) + amount)
  const wanted = hasSucceeded ? readMoves(plan) : []
  const wrong = [...new Set([...sums.keys(), ...wanted.map(({ account }) => account)])].filter(
    (account) => (sums.get(account) ?? 0) !== addMoves(wanted, account),
  )
  const missing = wanted.flatMap((_, index) => {
    const key = `0${index + 1} action`
    return counts.has(key) ? [] : [key]
  })
  return [
    ...[...counts].flatMap(([key, count]): Found[] =>
      count > 1 ? [{ invariant: 'I7', detail: `${key} took effect ${count} times` }] : [],
    ),
    ...missing.map((key): Found => ({ invariant, detail: `${key} has no effect, and it has succeeded` })),
    ...wrong.map(
      (account): Found => ({
        invariant,
        detail: `${status ?? 'not stored'}, and it moved ${sums.get(account) ?? 0} on account ${account}`,
      }),
    ),
    ...prepared.map(
      (xid): Found => ({ invariant, detail: `${status ?? 'not stored'}, and ${xid} is left prepared` }),
    ),
  ]
}

function auditTold(status: string | undefined, told: XaTold | undefined): readonly Found[] {
  const found: Found[] = []
  if (told?.end !== undefined && told.end !== status)
    found.push({ invariant: 'I19', detail: `its client was told ${told.end}, and it is ${status}` })
  if (status === 'succeed' && told?.asked !== 'submit')
    found.push({ invariant: 'I2', detail: 'it has succeeded, and no client has submitted it' })
  return found
}

function auditRecorded(
  status: string | undefined,
  branches: DtmView['branches'],
  notes: readonly RunNote[],
): readonly Found[] {
  const details: string[] = []
  const asked = notes.flatMap((note) => (note.type === 'ending' ? [note.status] : []))
  if (status !== undefined && isEnd(status) && !asked.some((end) => end === status))
    details.push(`it is ${status}, which its client has not said`)
  for (const note of notes) {
    if (note.type === 'ended' && note.status !== status)
      details.push(`its client has ended it as ${note.status}, and it is ${status}`)
    if (note.type === 'reported' && !branches.some((branch) => isReport(branch, note)))
      details.push(`${note.branch} ${note.op} was reported as ${note.status}, and is not there`)
  }
  if (new Set(branches.map(({ branch_id, op }) => `${branch_id} ${op}`)).size < branches.length)
    details.push('a step is there twice')
  return details.map((detail) => ({ invariant: 'I42', detail }))
}

function isReport(
  { branch_id, op, status, bin_data = '' }: DtmView['branches'][number],
  note: Extract<RunNote, { readonly type: 'reported' }>,
): boolean {
  const data = Buffer.from(bin_data, 'base64').toString()
  return branch_id === note.branch && op === note.op && status === note.status && data === note.data
}

/** Finds effects and prepared branches of transactions that no client has planned. */
function auditStrangers({ plans, effects, prepared }: DtmEvidence): readonly DtmViolation[] {
  const gids = new Set(plans.map(({ gid }) => gid))
  const subjects = [
    ...effects.map(({ gid }) => gid),
    ...prepared.map((xid) => xid.slice(0, xid.lastIndexOf('-'))),
  ]
  return [...new Set(subjects)]
    .filter((gid) => !gids.has(gid))
    .map((subject) => ({ invariant: 'I2', subject, detail: 'no client has planned it' }))
}

function auditMoney({ effects, balances }: DtmEvidence): readonly DtmViolation[] {
  const wanted = new Map([...balances.keys()].map((account) => [account, START_BALANCE]))
  for (const { account, amount } of effects) wanted.set(account, (wanted.get(account) ?? 0) + amount)
  const total = [...balances.values()].reduce((sum, balance) => sum + balance, 0)
  const start = balances.size * START_BALANCE
  return [
    ...[...wanted]
      .filter(([account, balance]) => balances.get(account) !== balance)
      .map(
        ([account, balance]): DtmViolation => ({
          invariant: 'I15',
          subject: `account ${account}`,
          detail: `it has ${balances.get(account)}, and by its effects ${balance}`,
        }),
      ),
    ...(total === start
      ? []
      : [
          {
            invariant: 'I15' as const,
            subject: 'all accounts',
            detail: `they have ${total}, and had ${start}`,
          },
        ]),
  ]
}

function readMoves(plan: DtmPlan): RecordedPlan['data']['steps'] {
  return plan.kind === 'xa' ? plan.moves : plan.data.steps
}

function addMoves(moves: readonly Move[], account: number): number {
  return moves.reduce((sum, move) => sum + (move.account === account ? move.amount : 0), 0)
}

function isEnd(status: string): boolean {
  return status === 'succeed' || status === 'failed'
}
