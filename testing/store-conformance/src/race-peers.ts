import assert from 'node:assert/strict'
import { PeerProcess } from './peer-process.ts'
import type { RaceAnswer, RaceCall, StorePlace } from './race-messages.ts'

/** The answers of the left process and of the right one, each in the order of its calls. */
export type BothAnswers = readonly [readonly RaceAnswer[], readonly RaceAnswer[]]

export type BothCalls = readonly [readonly RaceCall[], readonly RaceCall[]]

/** Two processes with a store each at one place. */
export class RacePeers {
  readonly #peers: readonly [PeerProcess, PeerProcess]
  #batches = 0

  private constructor(peers: readonly [PeerProcess, PeerProcess]) {
    this.#peers = peers
  }

  static async start(place: StorePlace, skewsMs: readonly [number, number]): Promise<RacePeers> {
    const [left, right] = [new PeerProcess('left'), new PeerProcess('right')]
    const peers = new RacePeers([left, right])
    try {
      await left.ask({ type: 'open', place, skewMs: skewsMs[0] }, 'opened')
      await right.ask({ type: 'open', place, skewMs: skewsMs[1] }, 'opened')
    } catch (error: unknown) {
      peers.kill()
      throw error
    }
    return peers
  }

  /** Starts the calls only when both processes have got them. The process that gets the start first alternates. */
  async race(calls: BothCalls, inFlightMax: number): Promise<BothAnswers> {
    const [left, right] = this.#peers
    await Promise.all([
      left.ask({ type: 'prepare', calls: calls[0], inFlightMax }, 'prepared'),
      right.ask({ type: 'prepare', calls: calls[1], inFlightMax }, 'prepared'),
    ])
    this.#batches += 1
    const isLeftFirst = this.#batches % 2 === 0
    const first = (isLeftFirst ? left : right).ask({ type: 'go' }, 'answers')
    const second = (isLeftFirst ? right : left).ask({ type: 'go' }, 'answers')
    const [one, two] = await Promise.all([first, second])
    return isLeftFirst ? [one.answers, two.answers] : [two.answers, one.answers]
  }

  /** Makes one call in one of the processes, while the other does nothing. */
  async call(peer: 0 | 1, call: RaceCall): Promise<RaceAnswer['result']> {
    await this.#peers[peer].ask({ type: 'prepare', calls: [call], inFlightMax: 1 }, 'prepared')
    const { answers } = await this.#peers[peer].ask({ type: 'go' }, 'answers')
    assert.equal(answers[0]?.error, undefined)
    return answers[0]?.result
  }

  async close(): Promise<void> {
    await Promise.all(this.#peers.map((peer) => peer.close()))
  }

  kill(): void {
    for (const peer of this.#peers) peer.kill()
  }
}
