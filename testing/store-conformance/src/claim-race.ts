import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { Store, StoredTransaction } from '@counterstep/core'
import { BATCH_PAIRS, raceBatch } from './pair-race.ts'
import type { RaceCall, RaceResult } from './race-messages.ts'
import type { BothAnswers, RacePeers } from './race-peers.ts'
import { RaceTally } from './race-tally.ts'
import { aDueTransaction, asGid, drawToken, drawTokens, FORMAT } from './transactions.ts'

const LEASE_MS = 600_000
const DUE_AT_ONCE = 5
/** Bounds the claims after a batch, which go on until both processes find nothing. */
const DRAINS_MAX = 20

interface Grant {
  readonly peer: 0 | 1
  readonly transaction: StoredTransaction
}

/** Both processes claim the same due rows: every other row by its gid, and all of them by a claim of due rows. */
export async function runClaimRace(store: Store, peers: RacePeers, count: number): Promise<string> {
  const tally = new RaceTally('claim against claim')
  for (let from = 0; from < count; from += BATCH_PAIRS) {
    const gids = Array.from({ length: BATCH_PAIRS }, (_, i) => `claim-${from + i}`)
    await Promise.all(gids.map((gid) => store.create(aDueTransaction(gid))))
    const answers = await raceBatch(peers, [makeClaims(gids), makeClaims(gids)], from / BATCH_PAIRS)
    for (const [i, left] of answers[0].entries()) if (answers[1][i]) tally.noteMeeting(left, answers[1][i])
    const grants = new Map<string, Grant[]>(gids.map((gid) => [gid, []]))
    collect(tally, grants, answers)
    await drain(tally, grants, peers)
    const rows = await store.readMany(gids.map(asGid))
    assert.equal(rows.length, gids.length)
    for (const row of rows) {
      const granted = grants.get(row.gid) ?? []
      const complaint = findComplaint(row, granted)
      if (complaint !== undefined) tally.noteFault(row.gid, complaint, granted, row)
      else for (const { peer } of granted) tally.noteWin(peer)
    }
  }
  return tally.conclude(count)
}

function makeClaims(gids: readonly string[]): readonly RaceCall[] {
  return gids.flatMap((gid, i) => {
    if (i % DUE_AT_ONCE === 0) return [claimDue(DUE_AT_ONCE), claim(gid)]
    return i % 2 === 0 ? [claim(gid)] : []
  })
}

function claim(gid: string): RaceCall {
  const argument = { gid: asGid(gid), token: drawToken(), leaseMs: LEASE_MS, formatMax: FORMAT }
  return { verb: 'claim', argument }
}

function claimDue(limit: number): RaceCall {
  const argument = { limit, tokens: drawTokens(limit), leaseMs: LEASE_MS, formatMax: FORMAT }
  return { verb: 'claimDue', argument }
}

/** Claimers that met may have left rows. A later claim must find them. */
async function drain(tally: RaceTally, grants: Map<string, Grant[]>, peers: RacePeers): Promise<void> {
  for (let round = 0; round < DRAINS_MAX; round++) {
    const answers = await peers.race([[claimDue(BATCH_PAIRS)], [claimDue(BATCH_PAIRS)]], 1)
    if (collect(tally, grants, answers) === 0) return
  }
  assert.fail(`rows are still due after ${DRAINS_MAX} more claims`)
}

function collect(tally: RaceTally, grants: Map<string, Grant[]>, answers: BothAnswers): number {
  let count = 0
  for (const peer of [0, 1] as const) {
    for (const { result, error } of answers[peer]) {
      const rows = readClaimed(result)
      if (rows === undefined) tally.noteFault('?', 'not a claim, and not refused as held', error ?? result)
      for (const transaction of rows ?? []) {
        const granted = grants.get(transaction.gid)
        if (granted === undefined)
          tally.noteFault(transaction.gid, 'claimed in a later batch, too', transaction)
        granted?.push({ peer, transaction })
        count += 1
      }
    }
  }
  return count
}

function readClaimed(result: RaceResult | undefined): readonly StoredTransaction[] | undefined {
  if (result === undefined) return undefined
  if ('claimed' in result) return result.claimed
  if ('transaction' in result) return [result.transaction]
  return 'reason' in result && result.reason === 'held' ? [] : undefined
}

function findComplaint(row: StoredTransaction, grants: readonly Grant[]): string | undefined {
  const [grant] = grants
  if (grant === undefined) return 'nobody has claimed it'
  if (grants.length > 1) return 'claimed more than once'
  if (!isDeepStrictEqual(row, grant.transaction)) return 'the row is not as its claimer was told'
  return row.owned && row.epoch === 2 && row.version > 1 ? undefined : 'not claimed'
}
