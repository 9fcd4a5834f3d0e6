import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { PeerProcess } from './peer-process.ts'
import type { RaceCall, RaceResult, StorePlace } from './race-messages.ts'
import type { Runner } from './runner.ts'
import { aDueTransaction, asGid, aTransaction, drawToken, drawTokens, FORMAT } from './transactions.ts'

export interface StoreFreezeOptions {
  readonly runner: Pick<Runner, 'describe' | 'it'>
  readonly name: string
  /** An empty place that only this suite uses. Another process opens it. */
  readonly place: StorePlace
  /** Ends all connections to the place on the server. Resolves when there are none, with their number. */
  readonly cutConnections: () => Promise<number>
  /**
   * If it is `at-once`, the first call finds a new connection. If it is `soon`, calls fail as unavailable until there is one.
   * If it is `one-by-one`, a call to several servers also leaves out those that are not connected again.
   */
  readonly reconnects: 'at-once' | 'soon' | 'one-by-one'
  /** Gets a line with the measured values. */
  readonly report: (line: string) => void
}

/** A call that waits for its time-out takes longer. */
const BACK_WITHIN_MS = 2_000
const PAUSE_MS = 10
const UNAVAILABLE = /^StoreUnavailableError/
const LEASE_MS = 60_000

interface FreezeCase {
  readonly call: RaceCall
  readonly isDone: (result: RaceResult) => boolean
  /** Recognises the answer of a search while a server is not connected again. */
  readonly isPartial?: (result: RaceResult) => boolean
}

/**
 * Defines the tests of a process that is frozen, like a serverless function between two calls, and whose connections have
 * ended when it goes on.
 */
export function storeFreeze(options: StoreFreezeOptions): void {
  const { runner, name, place, reconnects, report } = options
  runner.describe(`store of a frozen process: ${name}`, () => {
    for (const frozen of FREEZES) {
      const { verb } = frozen.call
      runner.it(
        `The call ${verb} works after a freeze in which the server has ended the connections`,
        async () => {
          const peer = new PeerProcess('frozen')
          try {
            await prepare(peer, place, frozen.call)
            const { failures, backMs } = await callAfterThaw(peer, options, frozen)
            report(`${name}: ${verb} answered after ${failures} failures and ${Math.round(backMs)} ms`)
            if (reconnects === 'at-once') assert.equal(failures, 0)
            await peer.close()
          } finally {
            peer.kill()
          }
        },
      )
    }
  })
}

const DUE = asGid('due-claim')
const FREEZES: readonly FreezeCase[] = [
  { call: { verb: 'stats' }, isDone: (result) => 'unfinished' in result },
  {
    call: { verb: 'create', argument: aTransaction('created') },
    isDone: (result) => 'createdAt' in result,
  },
  {
    call: {
      verb: 'claim',
      argument: { gid: DUE, token: drawToken(), leaseMs: LEASE_MS, formatMax: FORMAT },
    },
    isDone: (result) => 'transaction' in result,
  },
  {
    call: {
      verb: 'claimDue',
      argument: { limit: 1, tokens: drawTokens(1), leaseMs: LEASE_MS, formatMax: FORMAT },
    },
    isDone: (result) => 'claimed' in result && result.claimed.length === 1,
    isPartial: (result) => 'claimed' in result && result.claimed.length === 0,
  },
  {
    call: { verb: 'postponeDue', argument: { limit: 1, byMs: LEASE_MS, formatMax: FORMAT } },
    isDone: (result) => 'gids' in result && result.gids.length === 1,
    isPartial: (result) => 'gids' in result && result.gids.length === 0,
  },
  {
    call: { verb: 'renew', argument: [[{ gid: asGid('no-row'), token: drawToken() }], LEASE_MS] },
    isDone: (result) => 'lost' in result && result.lost.length === 1,
  },
]

/** Makes a due row, and idle connections of each kind. */
async function prepare(peer: PeerProcess, place: StorePlace, call: RaceCall): Promise<void> {
  await peer.ask({ type: 'open', place, skewMs: 0 }, 'opened')
  const calls: RaceCall[] = [
    { verb: 'create', argument: aDueTransaction(`due-${call.verb}`) },
    { verb: 'stats' },
  ]
  await peer.ask({ type: 'prepare', calls, inFlightMax: calls.length }, 'prepared')
  for (const { error } of (await peer.ask({ type: 'go' }, 'answers')).answers) assert.equal(error, undefined)
  await peer.ask({ type: 'prepare', calls: [call], inFlightMax: 1 }, 'prepared')
}

async function callAfterThaw(
  peer: PeerProcess,
  { cutConnections, reconnects }: StoreFreezeOptions,
  { isDone, isPartial }: FreezeCase,
): Promise<{ readonly failures: number; readonly backMs: number }> {
  peer.freeze()
  // The request waits together with the ends of the connections, and the process may see either first.
  let asked = peer.ask({ type: 'go' }, 'answers')
  let isAnswered = false
  const answered = () => {
    isAnswered = true
  }
  asked.then(answered, answered)
  assert.ok((await cutConnections()) > 0, 'there were no connections to end')
  assert.equal(isAnswered, false, 'the process was not frozen')
  const thawedAt = performance.now()
  peer.thaw()
  for (let failures = 0; ; failures++) {
    const [answer] = (await asked).answers
    const backMs = performance.now() - thawedAt
    const said = answer?.error ?? JSON.stringify(answer?.result)
    assert.ok(backMs < BACK_WITHIN_MS, `${backMs} ms after the thaw: ${said}`)
    if (answer?.result === undefined) assert.match(answer?.error ?? '', UNAVAILABLE)
    else if (isDone(answer.result)) return { failures, backMs }
    else assert.ok(reconnects === 'one-by-one' && isPartial?.(answer.result), said)
    await delay(PAUSE_MS)
    asked = peer.ask({ type: 'go' }, 'answers')
  }
}
