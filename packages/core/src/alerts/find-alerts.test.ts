import { describe, expect, it } from 'vitest'
import { type AlertObservation, findAlerts } from './find-alerts.ts'

const NOW = 1_700_000_000_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const QUIET: AlertObservation = { now: NOW, problems: [], names: [], storeEvents: [], bulkJobs: [] }
const SETTINGS = { failedShare: 0.05, services: new Set(['alert-ops']) }
const NEEDS_A_PERSON = {
  problem: 'bank-a compensate 500',
  waiting: 7,
  attention: 3,
  oldestAt: NOW - HOUR,
}
const job = { id: 'abcdefghabcdefgh', stateSince: NOW - MINUTE, refused: 0 }

describe('what there is to tell', () => {
  for (const [title, seen, ...expected] of [
    ['nothing', {}],
    [
      'a problem that needs a person',
      { problems: [NEEDS_A_PERSON] },
      `attention bank-a compensate 500 ×3 since ${NOW - HOUR}`,
    ],
    ['no problem that is only retried', { problems: [{ ...NEEDS_A_PERSON, attention: 0 }] }],
    [
      'no problem of the service that alerts go to, or each alert would bring another one',
      { problems: [{ ...NEEDS_A_PERSON, problem: 'alert-ops action 500' }] },
    ],
    [
      'a problem of a service that is only named like an alert',
      { problems: [{ ...NEEDS_A_PERSON, problem: 'alert-bank action 500' }] },
      `attention alert-bank action 500 ×3 since ${NOW - HOUR}`,
    ],
    [
      'a name of which a twentieth has failed',
      { names: [{ name: 'transfer', ended: 100, failed: 5 }] },
      'failed transfer ×5/100',
    ],
    ['no name of which less has failed', { names: [{ name: 'transfer', ended: 101, failed: 5 }] }],
    [
      'a name of which 20 have ended',
      { names: [{ name: 'transfer', ended: 20, failed: 1 }] },
      'failed transfer ×1/20',
    ],
    ['no name of which fewer have ended', { names: [{ name: 'transfer', ended: 19, failed: 19 }] }],
    [
      'what is overdue for over a minute, once it has been so for five',
      { oldestDueAt: NOW - MINUTE - 1 },
      `stuck overdue ×1 since ${NOW - MINUTE - 1} held ${5 * MINUTE}`,
    ],
    ['nothing that is overdue for a minute', { oldestDueAt: NOW - MINUTE }],
    [
      'what is unfinished for too long',
      { unfinished: { count: 4, since: NOW - 2 * HOUR } },
      `stuck unfinished ×4 since ${NOW - 2 * HOUR}`,
    ],
    [
      'what is paused for too long',
      { paused: { count: 2, since: NOW - 25 * HOUR } },
      `paused paused ×2 since ${NOW - 25 * HOUR}`,
    ],
    [
      'an event of the store',
      { storeEvents: [{ name: 'store-tail-lost', count: 1, since: NOW - MINUTE }] },
      `store store-tail-lost ×1 since ${NOW - MINUTE}`,
    ],
    ['no event of an hour ago', { storeEvents: [{ name: 'store-tail-lost', count: 1, since: NOW - HOUR }] }],
    [
      'a bulk job that its canaries have paused',
      { bulkJobs: [{ ...job, state: 'paused', pausedBy: 'canary' }] },
      `bulk abcdefghabcdefgh ×1 since ${NOW - MINUTE}`,
    ],
    ['no bulk job that a person has paused', { bulkJobs: [{ ...job, state: 'paused', pausedBy: 'person' }] }],
    [
      'a bulk job that has ended with refusals',
      { bulkJobs: [{ ...job, state: 'done', refused: 12 }] },
      `bulk abcdefghabcdefgh ×12 since ${NOW - MINUTE}`,
    ],
    ['no bulk job that has ended without', { bulkJobs: [{ ...job, state: 'done' }] }],
    [
      'no bulk job that ended an hour ago',
      { bulkJobs: [{ ...job, state: 'done', refused: 12, stateSince: NOW - HOUR }] },
    ],
  ] as const satisfies readonly (readonly [string, Partial<AlertObservation>, ...string[]])[]) {
    it(title, () => {
      const found = findAlerts({ ...QUIET, ...seen }, SETTINGS)
      expect(found.map(describeFinding)).toEqual(expected)
    })
  }
})

function describeFinding({
  rule,
  subject,
  count,
  total,
  since,
  holdMs,
}: ReturnType<typeof findAlerts>[number]) {
  const of = total === undefined ? '' : `/${total}`
  const sinceText = since === undefined ? '' : ` since ${since}`
  return `${rule} ${subject} ×${count}${of}${sinceText}${holdMs === 0 ? '' : ` held ${holdMs}`}`
}
