/** Judges a case while its branch is hostile, and when that is over: each breach is one sentence. */
import { isFinalStatus, type OpView, type TransactionView } from '@counterstep/protocol'
import type { BranchCalls } from './branch-calls.ts'
import type { HostileCase } from './hostile-case.ts'

/** So often a branch is asked before it may get well. */
export const ATTEMPTS_MIN = 2
/** The 1 MiB that is read of an answer, and what the kernel's buffers at both ends take beyond it. */
const SENT_BYTES_MAX = 16 * 1024 * 1024

export function hostileOp({ op, hostile }: HostileCase, view: TransactionView): OpView | undefined {
  return view.branches.flatMap(({ ops }) => ops).find((shown) => shown.op === op && shown.url === hostile.url)
}

/**
 * Nothing more is to be learned while the branch is hostile. One that means success is waited for: on a machine that does other
 * work too, two of its answers may come after their deadlines.
 */
export function isTried(hostileCase: HostileCase, view: TransactionView): boolean {
  if (isFinalStatus(view.status)) return true
  if (hostileCase.hostile.meaning === 'success') return false
  const op = hostileOp(hostileCase, view)
  return op !== undefined && op.state === 'waiting' && op.attempts >= ATTEMPTS_MIN
}

export function judgeWhileHostile(hostileCase: HostileCase, view: TransactionView): readonly string[] {
  const { role, end, hostile } = hostileCase
  const { meaning } = hostile
  const breaches: string[] = []
  const isDefinite = meaning === 'success' || (meaning === 'failure' && role === 'action')
  const expected = isDefinite ? end : role === 'compensation' || role === 'cancel' ? 'aborting' : 'submitted'
  const mayHaveEnded = meaning === 'success-or-again' && view.status === end
  if (view.status !== expected && !mayHaveEnded) breaches.push(`is ${view.status} instead of ${expected}`)
  const op = hostileOp(hostileCase, view)
  if (!isFinalStatus(view.status) && op?.result !== 'unknown' && op?.result !== 'ongoing') {
    if (meaning !== 'failure') breaches.push(`took an answer that says nothing for ${op?.result}`)
    else if (view.attention === undefined) breaches.push('was refused by its own way out, and tells nobody')
  }
  return breaches.map((breach) => `${hostileCase.gid} ${breach}`)
}

export function judgeTheEnd(
  hostileCase: HostileCase,
  view: TransactionView,
  calls: BranchCalls,
): readonly string[] {
  const { gid, role, end, op, hostile } = hostileCase
  const breaches: string[] = []
  const expected = hostile.getsWell ? end : 'stopped'
  if (view.status !== expected) breaches.push(`ended ${view.status} instead of ${expected}`)
  if (role === 'action' && hostile.meaning !== 'failure') {
    if (view.abort !== undefined) breaches.push(`was turned around by ${view.abort.cause}`)
    if (calls.of(gid, 'compensate').count > 0) breaches.push('was compensated')
  }
  if (role === 'action' && hostile.meaning === 'failure' && view.abort?.cause !== 'branch-failed')
    breaches.push(`was refused, and turned around by ${view.abort?.cause}`)
  const { sentBytesMax } = calls.of(gid, op)
  if (sentBytesMax > SENT_BYTES_MAX) breaches.push(`took ${sentBytesMax} bytes of one answer`)
  return breaches.map((breach) => `${gid} ${breach}`)
}
