import type { LookupFunction } from 'node:net'
import { describe, expect, it } from 'vitest'
import { toErrorWord } from '../src/error-word.ts'
import { createGuardedConnector, DeniedAddressError, guardLookup } from '../src/guarded-connector.ts'
import { HandshakeRests } from '../src/handshake-rests.ts'
import { ReadingTime } from '../src/reading-time.ts'
import { LOOKUPS_IN_FLIGHT_MAX, shareLookup } from '../src/shared-lookup.ts'
import { fixedLookup } from './fixed-lookup.ts'
import { buildGrpcCall, openCaller } from './grpc/http2-service.ts'
import { buildCall, serveHttp } from './hostile-server.ts'
import { testCaller } from './test-caller.ts'

type Answer = Parameters<LookupFunction>[2]

const NONE: ReadonlySet<string> = new Set()

/** Makes a name server that answers for a name when the test says so. */
function heldLookup() {
  const asked: string[] = []
  const held = new Map<string, Answer>()
  const lookup: LookupFunction = (hostname, _options, callback) => {
    asked.push(hostname)
    held.set(hostname, callback)
  }
  function answer(hostname: string, error: NodeJS.ErrnoException | null, addresses: readonly string[]): void {
    const found = addresses.map((address) => ({ address, family: 4 }))
    held.get(hostname)?.(error, found)
  }
  return { lookup, asked, answer }
}

function lookUpTimes(lookup: LookupFunction, hostname: string, count: number): unknown[] {
  const outcomes: unknown[] = []
  for (let n = 0; n < count; n++)
    lookup(hostname, { all: true }, (error, found) => outcomes.push(error ?? found))
  return outcomes
}

describe('look-ups', () => {
  const FOUND = [{ address: '203.0.113.1', family: 4 }]

  it('A name is looked up once at a time, and the answer is for all who wait', () => {
    const { lookup, asked, answer } = heldLookup()
    const shared = shareLookup(lookup, NONE)
    const outcomes = lookUpTimes(shared, 'bank.test', 100)
    expect([asked, outcomes]).toEqual([['bank.test'], []])
    answer('bank.test', null, ['203.0.113.1'])
    expect(outcomes).toEqual(Array(100).fill(FOUND))
    // The answer is not remembered.
    lookUpTimes(shared, 'bank.test', 1)
    expect(asked).toHaveLength(2)
  })

  it('A look-up that fails, fails for all who wait', () => {
    const { lookup, asked, answer } = heldLookup()
    const outcomes = lookUpTimes(shareLookup(lookup, NONE), 'none.test', 100)
    const error = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
    answer('none.test', error, [])
    expect([asked, outcomes]).toEqual([['none.test'], Array(100).fill(error)])
  })

  it('A look-up that is denied, is denied for all who wait', () => {
    const { lookup, asked, answer } = heldLookup()
    const guarded = guardLookup((_hostname, address) => address !== '127.0.0.2', shareLookup(lookup, NONE))
    const outcomes = lookUpTimes(guarded, 'bank.test', 100)
    answer('bank.test', null, ['203.0.113.1', '127.0.0.2'])
    expect(asked).toEqual(['bank.test'])
    expect(outcomes).toEqual(Array(100).fill(expect.any(DeniedAddressError)))
  })

  it('A look-up of a listed name that hangs holds up no other name', () => {
    const { lookup, asked, answer } = heldLookup()
    const shared = shareLookup(lookup, new Set(['slow.test']))
    const slow = lookUpTimes(shared, 'slow.test', 100)
    const good = lookUpTimes(shared, 'bank.test', 1)
    answer('bank.test', null, ['203.0.113.1'])
    expect([asked, slow, good]).toEqual([['slow.test', 'bank.test'], [], [FOUND]])
  })

  it('A look-up for another family of addresses is another look-up', () => {
    const { lookup, asked, answer } = heldLookup()
    const shared = shareLookup(lookup, NONE)
    for (const family of [4, 6, 4]) shared('bank.test', { all: true, family }, () => undefined)
    expect(asked).toEqual(['bank.test'])
    answer('bank.test', null, ['203.0.113.1'])
    expect(asked).toEqual(['bank.test', 'bank.test'])
  })

  it('A look-up over the bound fails at once, and one that ends makes room', () => {
    const { lookup, asked, answer } = heldLookup()
    const shared = shareLookup(lookup, NONE)
    for (let n = 0; n < LOOKUPS_IN_FLIGHT_MAX; n++) lookUpTimes(shared, `slow-${n}.test`, 1)
    const [refused] = lookUpTimes(shared, 'bank.test', 1)
    expect([toErrorWord(refused), asked]).toEqual(['dns', ['slow-0.test']])
    // A call may still join a look-up that is in flight.
    expect(lookUpTimes(shared, 'slow-0.test', 1)).toEqual([])
    answer('slow-0.test', null, ['203.0.113.1'])
    expect(lookUpTimes(shared, 'bank.test', 1)).toEqual([])
    for (let n = 1; n < LOOKUPS_IN_FLIGHT_MAX; n++) answer(`slow-${n}.test`, null, ['203.0.113.1'])
    expect(asked.at(-1)).toBe('bank.test')
  })

  it('Names that hang leave a thread for the name of the store where none is listed', () => {
    const { lookup, asked } = heldLookup()
    const shared = shareLookup(lookup, NONE)
    for (let n = 0; n < LOOKUPS_IN_FLIGHT_MAX; n++) lookUpTimes(shared, `slow-${n}.test`, 1)
    expect(asked).toEqual(['slow-0.test'])
  })

  it('Look-ups of unlisted names that hang hold up no listed name, whatever their number', () => {
    const { lookup, asked, answer } = heldLookup()
    const shared = shareLookup(lookup, new Set(['bank.test']))
    for (let n = 0; n < LOOKUPS_IN_FLIGHT_MAX; n++) lookUpTimes(shared, `slow-${n}.test`, 1)
    // The system has a thread left for another name.
    expect(asked).toEqual(['slow-0.test'])
    expect(lookUpTimes(shared, 'bank.test', 1)).toEqual([])
    expect(asked).toEqual(['slow-0.test', 'bank.test'])
    answer('slow-0.test', null, ['203.0.113.1'])
    expect(asked).toEqual(['slow-0.test', 'bank.test', 'slow-1.test'])
  })

  it('Look-ups of unlisted names go on behind one that throws', () => {
    const { lookup, asked, answer } = heldLookup()
    const picky: LookupFunction = (hostname, ...rest) => {
      if (hostname === 'odd.test') throw new RangeError('no such option')
      lookup(hostname, ...rest)
    }
    const shared = shareLookup(picky, new Set(['bank.test']))
    const names = ['one.test', 'odd.test', 'two.test']
    const [first, odd] = names.map((name) => lookUpTimes(shared, name, 1))
    answer('one.test', null, ['203.0.113.1'])
    expect([first, odd, asked]).toEqual([[FOUND], [expect.any(RangeError)], ['one.test', 'two.test']])
  })

  it('A look-up that throws is in flight no longer', () => {
    let asked = 0
    const shared = shareLookup(
      () => {
        asked++
        throw new RangeError('no such option')
      },
      new Set(['bank.test']),
    )
    for (let n = 0; n < 2; n++) expect(() => lookUpTimes(shared, 'bank.test', 1)).toThrow(RangeError)
    expect(asked).toBe(2)
  })
})

describe('connections', () => {
  it('Connections to a name that hangs make one look-up', () => {
    const { lookup, asked } = heldLookup()
    const mayReach = () => true
    const shared = guardLookup(mayReach, shareLookup(lookup, NONE))
    const connect = createGuardedConnector({
      mayReach,
      lookup: shared,
      connectTimeoutMs: 1_000,
      handshakes: new HandshakeRests().openOrigin('http://slow.test', true),
      reads: new ReadingTime(1).openOrigin(),
    })
    const ended: unknown[] = []
    for (let n = 0; n < 100; n++) {
      connect({ hostname: 'slow.test', protocol: 'http:', port: '80' }, (...[error]) => {
        ended.push(error)
      })
    }
    expect([ended, asked]).toEqual([[], ['slow.test']])
  })

  it('Names that hang for calls over HTTP and over gRPC take one thread together', async () => {
    const held = heldLookup()
    const targets = {
      check: () => undefined,
      resolve: (url: string) => new URL(url),
      mayReach: () => true,
    }
    const caller = openCaller({ targets, lookup: held.lookup, connectTimeoutMs: 60_000 })
    const calls = [
      caller.call(buildCall('http://slow.test/')),
      caller.call(buildGrpcCall(1, {}, 'grpc://other.test')),
    ]
    await expect.poll(() => held.asked.length).toBe(1)
    held.answer(held.asked[0] ?? '', Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), [])
    await expect.poll(() => held.asked.toSorted()).toEqual(['other.test', 'slow.test'])
    await caller.close()
    await Promise.all(calls)
  })

  it('A listed name is called while more names hang than may be looked up', async () => {
    const server = await serveHttp((_request, response) => response.end())
    const { port } = new URL(server.url)
    const held = heldLookup()
    const known = fixedLookup({ 'bank.test': ['127.0.0.1'] })
    const lookup: LookupFunction = (hostname, ...rest) =>
      (hostname === 'bank.test' ? known : held.lookup)(hostname, ...rest)
    const targets = {
      check: () => undefined,
      resolve: (url: string) => new URL(url),
      mayReach: () => true,
    }
    const listedOrigins = [`http://bank.test:${port}`]
    const caller = testCaller({ targets, lookup, listedOrigins, connectTimeoutMs: 60_000 })
    const slow = Array.from({ length: 100 }, (_, n) => caller.call(buildCall(`http://slow-${n}.test/`)))
    const good = await caller.call(buildCall(`${listedOrigins[0]}/`))
    expect([good.result, held.asked]).toEqual(['success', ['slow-0.test']])
    await caller.close()
    await Promise.all(slow)
  })

  it('Another listed name is called while one hangs', async () => {
    const server = await serveHttp((_request, response) => response.end())
    const held = heldLookup()
    const known = fixedLookup({ 'bank.test': ['127.0.0.1'] })
    const lookup: LookupFunction = (hostname, ...rest) =>
      (hostname === 'slow.test' ? held.lookup : known)(hostname, ...rest)
    const targets = {
      check: () => undefined,
      resolve: (url: string) => new URL(url),
      mayReach: () => true,
    }
    const { port } = new URL(server.url)
    const listedOrigins = [`http://bank.test:${port}`]
    const caller = testCaller({ targets, lookup, listedOrigins, connectTimeoutMs: 60_000 })
    const slow = Array.from({ length: 100 }, () => caller.call(buildCall('http://slow.test/')))
    const good = await caller.call(buildCall(`${listedOrigins[0]}/`))
    expect([good.result, held.asked]).toEqual(['success', ['slow.test']])
    await caller.close()
    for (const answer of await Promise.all(slow))
      expect(answer).toEqual({ result: 'unknown', error: 'closed' })
  })
})
