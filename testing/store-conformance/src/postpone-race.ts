import assert from 'node:assert/strict'
import type { Store } from '@counterstep/core'
import { raceWave, WAVE_PAIRS } from './pair-race.ts'
import type { RaceCall } from './race-messages.ts'
import type { BothAnswers, RacePeers } from './race-peers.ts'
import { RaceTally } from './race-tally.ts'
import { aDueTransaction, asGid, drawTokens, FORMAT } from './transactions.ts'

const LATER_MS = 600_000
const DUE_AT_ONCE = 5
/** After a wave, until both have found nothing. */
const DRAINS_MAX = 20

interface Taker {
  readonly peer: 0 | 1
  readonly isClaim: boolean
}

/** Both ask for whatever is due, to postpone it or to claim it: one of all these has each row. */
export async function runPostponeRace(store: Store, peers: RacePeers, count: number): Promise<string> {
  const tally = new RaceTally('postpone and claim against the same')
  for (let from = 0; from < count; from += WAVE_PAIRS) {
    const gids = Array.from({ length: WAVE_PAIRS }, (_, i) => `postpone-${from + i}`)
    await Promise.all(gids.map((gid) => store.create(aDueTransaction(gid))))
    const answers = await raceWave(peers, [waveOf(0), waveOf(1)], from / WAVE_PAIRS)
    for (const [i, left] of answers[0].entries()) if (answers[1][i]) tally.met(left, answers[1][i])
    const takers = new Map<string, Taker[]>(gids.map((gid) => [gid, []]))
    collect(tally, takers, answers)
    await drain(tally, takers, peers)
    const rows = await store.readMany(gids.map(asGid))
    assert.equal(rows.length, gids.length)
    for (const row of rows) {
      const [taker, ...others] = takers.get(row.gid) ?? []
      if (taker === undefined || others.length > 0)
        tally.fault(row.gid, 'named not once', taker, ...others, row)
      else if (row.owned !== taker.isClaim || row.epoch !== (taker.isClaim ? 2 : 1))
        tally.fault(row.gid, 'the row is not as its taker was told', taker, row)
      else tally.won(taker.peer)
    }
  }
  return tally.verdict(count)
}

/** Three in four postpone; the claim stands elsewhere in the one than in the other. */
function waveOf(peer: 0 | 1): readonly RaceCall[] {
  const calls = (2 * WAVE_PAIRS) / DUE_AT_ONCE
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
    const answers = await peers.race([[postponeDue(WAVE_PAIRS)], [postponeDue(WAVE_PAIRS)]], 1)
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
        tally.fault('?', 'neither a claim nor a postponement', error ?? result)
        continue
      }
      for (const gid of isClaim ? result.claimed.map((row) => row.gid) : result.gids) {
        const known = takers.get(gid)
        if (known === undefined) tally.fault(gid, 'taken in a later wave, too')
        known?.push({ peer, isClaim })
        count += 1
      }
    }
  }
  return count
}
