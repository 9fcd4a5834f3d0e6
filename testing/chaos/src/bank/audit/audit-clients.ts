import { type FinalStatus, isFinalStatus } from '@counterstep/protocol'
import type { ClientNote, Evidence } from '../evidence.ts'
import { isAcknowledged } from './audit-store.ts'
import type { Violation } from './violation.ts'

/** I4, I17, I18, I19, I21: what clients were told, against each other and against the stores. */
export function auditClients(evidence: Evidence): Violation[] {
  const called = new Set(evidence.calls.map(({ gid }) => gid))
  const byGid = new Map<string, ClientNote[]>()
  for (const note of evidence.notes) {
    const mine = byGid.get(note.gid)
    if (mine === undefined) byGid.set(note.gid, [note])
    else mine.push(note)
  }
  return [...byGid].flatMap(([gid, notes]) => [
    ...auditRepeats(gid, notes),
    ...auditSight(gid, notes),
    ...auditForgotten(gid, notes),
    ...auditTold(gid, notes, evidence),
    ...auditRefused(gid, notes, evidence.rows.has(gid) || called.has(gid)),
  ])
}

/** I17. A 409 of the same content, or anything but a 409 of other content, once the first was accepted. */
function auditRepeats(gid: string, notes: readonly ClientNote[]): Violation[] {
  return notes.flatMap(({ ask, answer }): Violation[] => {
    if (ask === 'submit' && answer.type === 'problem' && answer.statusCode === 409) {
      return [{ invariant: 'I17', subject: gid, detail: `the same content was refused with ${answer.code}` }]
    }
    if (ask === 'other-content' && answer.type === 'view') {
      return [{ invariant: 'I17', subject: gid, detail: `other content was answered ${answer.statusCode}` }]
    }
    return []
  })
}

/** I1, as a client sees it: it was acknowledged, and a server asked later does not know it. */
function auditForgotten(gid: string, notes: readonly ClientNote[]): Violation[] {
  const acknowledgedAt = Math.min(...notes.filter(isAcknowledged).map(({ answeredAt }) => answeredAt))
  const isForgotten = notes.some(
    ({ askedAt, answer }) =>
      askedAt > acknowledgedAt && answer.type === 'problem' && answer.code === 'SAGA_UNKNOWN_GID',
  )
  if (!isForgotten) return []
  return [{ invariant: 'I1', subject: gid, detail: 'acknowledged, and a server did not know it later' }]
}

interface Sight {
  readonly status: FinalStatus
  readonly answeredAt: number
}

/** I18. Only a question that was asked after an answer had come must agree with it. */
function auditSight(gid: string, notes: readonly ClientNote[]): Violation[] {
  let first: Sight | undefined
  const seen = notes.toSorted((one, other) => one.answeredAt - other.answeredAt)
  for (const { answer, answeredAt } of seen) {
    if (answer.type !== 'view' || !isFinalStatus(answer.status)) continue
    if (first !== undefined && first.status !== answer.status) {
      return [{ invariant: 'I18', subject: gid, detail: `seen ${first.status}, then ${answer.status}` }]
    }
    first ??= { status: answer.status, answeredAt }
  }
  if (first === undefined) return []
  const { status, answeredAt } = first
  const back = notes.find(({ askedAt, answer }) => askedAt > answeredAt && goesBack(answer))
  if (back === undefined) return []
  return [{ invariant: 'I18', subject: gid, detail: `seen ${status}, then ${toWord(back)}` }]
}

function goesBack(answer: ClientNote['answer']): boolean {
  return answer.type === 'view' && !isFinalStatus(answer.status)
}

function toWord({ answer }: ClientNote): string {
  return answer.type === 'view' ? answer.status : answer.type
}

/** I19, and I4 for an abort that was promised. */
function auditTold(gid: string, notes: readonly ClientNote[], { rows }: Evidence): Violation[] {
  const status = rows.get(gid)?.status
  return notes.flatMap(({ ask, answer }): Violation[] => {
    if (answer.type !== 'view') return []
    if (ask === 'abort' && status === 'succeeded') {
      return [{ invariant: 'I4', subject: gid, detail: 'its abort was acknowledged, and it succeeded' }]
    }
    if (!isFinalStatus(answer.status) || answer.status === status) return []
    const detail = `a client was told ${answer.status}, the store says ${status ?? 'nothing'}`
    return [{ invariant: 'I19', subject: gid, detail }]
  })
}

const NOT_ACCEPTED: ReadonlySet<string> = new Set([
  'SAGA_NOT_ACCEPTED',
  'SAGA_OVER_CAPACITY',
  'SAGA_TARGET_OVER_CAPACITY',
  'SAGA_STOPPING',
])

/** Audits I21 for a gid whose submits never got another answer. */
function auditRefused(gid: string, notes: readonly ClientNote[], isDone: boolean): Violation[] {
  const submits = notes.filter(({ ask }) => ask === 'submit')
  const refused = submits.filter(({ answer }) => answer.type === 'problem' && NOT_ACCEPTED.has(answer.code))
  if (!isDone || submits.length === 0 || refused.length < submits.length) return []
  return [
    { invariant: 'I21', subject: gid, detail: 'every submit was refused as not accepted, and it is there' },
  ]
}
