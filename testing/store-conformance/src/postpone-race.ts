import assert from 'node:assert/strict'
import type { Store } from '@counterstep/core'
import { BATCH_PAIRS, raceBatch } from './pair-race.ts'
import type { RaceCall } from './race-messages.ts'
import type { BothAnswers, RacePeers } from './race-peers.ts'
import { RaceTally } from './race-tally.ts'
import { aDueTransaction, asGid, drawTokens, FORMAT } from './transactions.ts'

const LATER_MS = 600_000
const DUE_AT_ONCE = 5
/** Bounds the calls after a batch, which go on until both processes find nothing. */
const DRAINS_MAX = 20

interface Taker {
  readonly peer: 0 | 1
  readonly isClaim: boolean
}

/** Both processes postpone or claim due rows. Exactly one of all these calls must get each row. */
export async function runPostponeRace(store: Store, peers: RacePeers, count: number): Promise<string> {
  const tally = new RaceTally('postpone and claim against the same')
  for (let from = 0; from < count; from += BATCH_PAIRS) {
    const gids = Array.from({ length: BATCH_PAIRS }, (_, i) => `postpone-${from + i}`)
    await Promise.all(gids.map((gid) => store.create(aDueTransaction(gid))))
    const answers = await raceBatch(peers, [makeBatch(0), makeBatch(1)], from / BATCH_PAIRS)
    for (const [i, left] of answers[0].entries()) if (answers[1][i]) tally.noteMeeting(left, answers[1][i])
    const takers = new Map<string, Taker[]>(gids.map((gid) => [gid, []]))
    collect(tally, takers, answers)
    await drain(tally, takers, peers)
    const rows = await store.readMany(gids.map(asGid))
    assert.equal(rows.length, gids.length)
    for (const row of rows) {
      const [taker, ...others] = takers.get(row.gid) ?? []
      if (taker === undefined || others.length > 0)
        tally.noteFault(row.gid, 'named not once', taker, ...others, row)
      else if (row.owned !== taker.isClaim || row.epoch !== (taker.isClaim ? 2 : 1))
        tally.noteFault(row.gid, 'the row is not as its taker was told', taker, row)
      else tally.noteWin(taker.peer)
    }
  }
  return tally.conclude(count)
}

/** Three of four calls postpone. The claims have other places in the second process than in the first. */
function makeBatch(peer: 0 | 1): readonly RaceCall[] {
  const calls = (2 * BATCH_PAIRS) / DUE_AT_ONCE
  return Array.from({ length: calls }, (_, i) =>
    i % 4 === peer * 2 ? claimDue(DUE_AT_ONCE) : postponeDue(DUE_AT_ONCE),
  )
}

function claimDue(limit: number): RaceCall {
  const argument = { limit, tokens: drawTokens(limit), leaseMs: LATER_MS, formatMax: FORMAT }
  return { verb: 'claimDue', argument }
}

function postponeDue(limit: number): RaceCall {
  return { verb: 'postponeDue', argument: { limit, byMs: LATER_MS, formatMax: FORMAT } }
}

async function drain(tally: RaceTally, takers: Map<string, Taker[]>, peers: RacePeers): Promise<void> {
  for (let round = 0; round < DRAINS_MAX; round++) {
    const answers = await peers.race([[postponeDue(BATCH_PAIRS)], [postponeDue(BATCH_PAIRS)]], 1)
    if (collect(tally, takers, answers) === 0) return
  }
  assert.fail(`rows are still due after ${DRAINS_MAX} more calls`)
}

function collect(tally: RaceTally, takers: Map<string, Taker[]>, answers: BothAnswers): number {
  let count = 0
  for (const peer of [0, 1] as const) {
    for (const { result, error } of answers[peer]) {
      const isClaim = result !== undefined && 'claimed' in result
      if (!isClaim && !(result && 'gids' in result)) {
        tally.noteFault('?', 'neither a claim nor a postponement', error ?? result)
        continue
      }
      for (const gid of isClaim ? result.claimed.map((row) => row.gid) : result.gids) {
        const known = takers.get(gid)
        if (known === undefined) tally.noteFault(gid, 'taken in a later batch, too')
        known?.push({ peer, isClaim })
        count += 1
      }
    }
  }
  return count
}
