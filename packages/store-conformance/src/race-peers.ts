import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { FromPeer, RaceAnswer, RaceCall, StorePlace, ToPeer } from './race-messages.ts'

const PEER = fileURLToPath(new URL('./race-peer.ts', import.meta.url))
/** For one message: an opening, or a wave of calls. A store that hangs fails here, by name. */
const ANSWER_MS_MAX = 20_000

/** Of the left process and of the right one, each in the order of its calls. */
export type BothAnswers = readonly [readonly RaceAnswer[], readonly RaceAnswer[]]

export type BothCalls = readonly [readonly RaceCall[], readonly RaceCall[]]

/** Two processes with a store each, at one place. */
export class RacePeers {
  readonly #peers: readonly [RacePeer, RacePeer]
  #waves = 0

  private constructor(peers: readonly [RacePeer, RacePeer]) {
    this.#peers = peers
  }

  static async start(place: StorePlace, skewsMs: readonly [number, number]): Promise<RacePeers> {
    const [left, right] = [new RacePeer('left'), new RacePeer('right')]
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

  /** Both hold their calls before either is let go; which of the two hears it first alternates. */
  async race(calls: BothCalls, inFlightMax: number): Promise<BothAnswers> {
    const [left, right] = this.#peers
    await Promise.all([
      left.ask({ type: 'prepare', calls: calls[0], inFlightMax }, 'prepared'),
      right.ask({ type: 'prepare', calls: calls[1], inFlightMax }, 'prepared'),
    ])
    this.#waves += 1
    const isLeftFirst = this.#waves % 2 === 0
    const first = (isLeftFirst ? left : right).ask({ type: 'go' }, 'answers')
    const second = (isLeftFirst ? right : left).ask({ type: 'go' }, 'answers')
    const [one, two] = await Promise.all([first, second])
    return isLeftFirst ? [one.answers, two.answers] : [two.answers, one.answers]
  }

  /** One call of one of the two, while the other does nothing. */
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

class RacePeer {
  readonly #name: string
  readonly #process: ChildProcess

  constructor(name: string) {
    this.#name = name
    // Without the flags of the test runner's own process.
    this.#process = fork(PEER, { execArgv: [] })
  }

  async ask<T extends FromPeer['type']>(
    message: ToPeer,
    expected: T,
  ): Promise<Extract<FromPeer, { type: T }>> {
    const settled = new AbortController()
    const late = AbortSignal.timeout(ANSWER_MS_MAX)
    const { signal } = settled
    const reply = once(this.#process, 'message', { signal })
    const exit = once(this.#process, 'exit', { signal }).then(([code]) => {
      throw new Error(`the ${this.#name} process ended with ${code} at "${message.type}"`)
    })
    const timeout = once(late, 'abort', { signal }).then(() => {
      throw new Error(`the ${this.#name} process did not answer "${message.type}" in ${ANSWER_MS_MAX} ms`)
    })
    this.#process.send(message)
    try {
      const [answer] = (await Promise.race([reply, exit, timeout])) as [FromPeer]
      assert.ok(answer.type === expected, JSON.stringify(answer))
      return answer as Extract<FromPeer, { type: T }>
    } finally {
      settled.abort()
      await Promise.allSettled([reply, exit, timeout])
    }
  }

  async close(): Promise<void> {
    await this.ask({ type: 'close' }, 'closed')
    const exited = once(this.#process, 'exit')
    this.#process.disconnect()
    await exited
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }
}
