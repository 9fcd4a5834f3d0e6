import type { Store, StoredTransaction } from '@counterstep/core'
import type { RaceAnswer, RaceCall, RaceResult } from './race-messages.ts'
import type { BothAnswers, BothCalls, RacePeers } from './race-peers.ts'
import { RaceTally } from './race-tally.ts'
import { asGid } from './transactions.ts'

/** The number of races that each store must pass on each of its servers. */
export const RACE_PAIRS = 1_000
/** So many pairs make at least three batches of each manner. With as many, the suite's proof catches every broken store. */
export const FEW_RACE_PAIRS = 500
/** The number of calls in flight at once in each process, in most batches. */
export const BATCH_PAIRS = 50
const FEW_IN_FLIGHT = 8

export interface PairRace {
  readonly title: string
  /** Makes the two calls, one for each process, of which one must win. */
  readonly calls: (store: Store, gid: string, index: number) => Promise<readonly [RaceCall, RaceCall]>
  readonly hasWon: (result: RaceResult) => boolean
  /** Says what is wrong with the loser's answer, or with the row that the winner has left. */
  readonly findComplaint: (end: PairEnd) => string | undefined
}

export interface PairEnd {
  readonly winner: RaceCall
  readonly won: RaceResult
  readonly lost: RaceResult
  readonly row: StoredTransaction
}

/** Makes one call of each process on each gid, a batch of gids at a time. */
export async function runPairRace(
  race: PairRace,
  store: Store,
  peers: RacePeers,
  count: number,
): Promise<string> {
  const tally = new RaceTally(race.title)
  for (let from = 0; from < count; from += BATCH_PAIRS) {
    const gids = Array.from(
      { length: BATCH_PAIRS },
      (_, i) => `${race.title.replaceAll(' ', '-')}-${from + i}`,
    )
    const pairs = await Promise.all(gids.map((gid, i) => race.calls(store, gid, from + i)))
    const [left, right] = await raceBatch(
      peers,
      [pairs.map((pair) => pair[0]), pairs.map((pair) => pair[1])],
      from / BATCH_PAIRS,
    )
    const rows = new Map((await store.readMany(gids.map(asGid))).map((row) => [row.gid as string, row]))
    for (const [i, gid] of gids.entries()) {
      const [pair, one, two] = [pairs[i], left[i], right[i]]
      if (!pair || !one || !two) throw new Error(`a call on ${gid} has no answer`)
      tally.noteMeeting(one, two)
      judge(race, tally, { gid, calls: pair, answers: [one, two], row: rows.get(gid) })
    }
  }
  return tally.conclude(count)
}

/**
 * The batches differ. With all calls at once a store's own batches are full, and with the opposite order in the other process
 * their locks meet crosswise. With a few at a time there are many small writes, which come between each other.
 */
export async function raceBatch(
  peers: RacePeers,
  [left, right]: BothCalls,
  batch: number,
): Promise<BothAnswers> {
  if (batch % 3 === 0) return peers.race([left, right], left.length)
  if (batch % 3 === 1) return peers.race([left, right], FEW_IN_FLIGHT)
  const [leftAnswers, rightAnswers] = await peers.race([left, [...right].reverse()], left.length)
  return [leftAnswers, [...rightAnswers].reverse()]
}

interface JudgedPair {
  readonly gid: string
  readonly calls: readonly [RaceCall, RaceCall]
  readonly answers: readonly [RaceAnswer, RaceAnswer]
  readonly row: StoredTransaction | undefined
}

function judge(race: PairRace, tally: RaceTally, pair: JudgedPair): void {
  const winner = findWinner(race, pair)
  const evidence = pair.answers.map((answer) => answer.error ?? answer.result)
  if (typeof winner === 'number') tally.noteWin(winner)
  else tally.noteFault(pair.gid, winner, ...evidence, pair.row)
}

function findWinner(race: PairRace, { calls, answers, row }: JudgedPair): 0 | 1 | string {
  const [left, right] = [answers[0].result, answers[1].result]
  if (left === undefined || right === undefined) return 'a call threw'
  const hasLeftWon = race.hasWon(left)
  if (hasLeftWon === race.hasWon(right)) return hasLeftWon ? 'both won' : 'none won'
  if (row === undefined) return 'there is no row'
  const end = hasLeftWon
    ? { winner: calls[0], won: left, lost: right, row }
    : { winner: calls[1], won: right, lost: left, row }
  return race.findComplaint(end) ?? (hasLeftWon ? 0 : 1)
}
