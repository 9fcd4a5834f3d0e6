import { isIP, type LookupFunction, Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { describe, expect, it } from 'vitest'
import {
  ADDRESSES_TRIED_MAX,
  createGuardedConnector,
  DeniedAddressError,
  guardLookup,
} from '../src/guarded-connector.ts'
import { HandshakeRests } from '../src/handshake-rests.ts'
import { ReadingTime } from '../src/reading-time.ts'
import { fixedLookup } from './fixed-lookup.ts'

const DENIED = new Set(['127.0.0.2', '169.254.169.254', '::1'])
const mayReach = (_hostname: string, address: string) => !DENIED.has(address)

/** Lists as many addresses as the whole answer of a name server holds. */
function listAddresses(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `203.0.${n >> 8}.${n & 255}`)
}

interface Outcome {
  readonly error: Error | undefined
  readonly dialled: readonly string[]
}

/** Stands in for undici's connector and connects to nothing. The outcome is the address that it would have called. */
function connectTo(hostname: string, lookup: LookupFunction): Promise<Outcome> {
  const dialled: string[] = []
  return new Promise((resolve) => {
    const end = (error?: Error | null) => resolve({ error: error ?? undefined, dialled })
    const spy = (options?: buildConnector.BuildOptions) => (target: buildConnector.Options) => {
      if (isIP(target.hostname) !== 0) {
        dialled.push(target.hostname)
        end()
      } else if (options !== undefined && 'lookup' in options) {
        options.lookup?.(target.hostname, { all: true }, (error, found) => {
          if (error === null && typeof found !== 'string')
            dialled.push(...found.map(({ address }) => address))
          end(error)
        })
      }
      return new Socket()
    }
    const guarded = guardLookup(mayReach, lookup)
    const connect = createGuardedConnector(
      {
        ...{ mayReach, lookup: guarded, connectTimeoutMs: 1_000, reads: new ReadingTime(1).openOrigin() },
        handshakes: new HandshakeRests().openOrigin(`http://${hostname}`, true),
      },
      spy,
    )
    connect({ hostname, protocol: 'http:', port: '80' }, (...[error]) => end(error))
  })
}

describe('S3: the connector', () => {
  it('The connector dials all addresses of a name if all of them may be dialled', async () => {
    const lookup = fixedLookup({ 'bank.test': ['203.0.113.1', '2001:db8::1'] })
    expect(await connectTo('bank.test', lookup)).toEqual({
      error: undefined,
      dialled: ['203.0.113.1', '2001:db8::1'],
    })
  })

  for (const [what, answers] of [
    ['the first', ['169.254.169.254', '203.0.113.1']],
    ['the last', ['203.0.113.1', '203.0.113.2', '127.0.0.2']],
    ['the only one', ['::1']],
    ['one of very many', listAddresses(4_000).with(ADDRESSES_TRIED_MAX - 1, '127.0.0.2')],
  ] as const) {
    it(`The connector dials nothing if ${what} of a name's addresses is denied`, async () => {
      const outcome = await connectTo('bank.test', fixedLookup({ 'bank.test': answers }))
      expect(outcome).toEqual({ error: expect.any(DeniedAddressError), dialled: [] })
    })
  }

  it('The connector dials the first addresses of a name that has very many', async () => {
    const addresses = listAddresses(4_000)
    expect(await connectTo('bank.test', fixedLookup({ 'bank.test': addresses }))).toEqual({
      error: undefined,
      dialled: addresses.slice(0, ADDRESSES_TRIED_MAX),
    })
  })

  it('The connector dials nothing for a name without any address', async () => {
    const outcome = await connectTo('bank.test', fixedLookup({ 'bank.test': [] }))
    expect(outcome).toEqual({ error: expect.any(DeniedAddressError), dialled: [] })
  })

  it.each(['127.0.0.2', '169.254.169.254', '::1'])(
    'The connector dials no denied address in place of a name, for which no look-up runs: %s',
    async (address) => {
      const lookup: LookupFunction = () => {
        throw new Error('looked up')
      }
      const outcome = await connectTo(address, lookup)
      expect(outcome).toEqual({ error: expect.any(DeniedAddressError), dialled: [] })
    },
  )

  it('The connector dials an address in place of a name if it is not denied', async () => {
    const outcome = await connectTo('203.0.113.7', fixedLookup({}))
    expect(outcome).toEqual({ error: undefined, dialled: ['203.0.113.7'] })
  })

  it('The look-up asks for all addresses though its caller wants one', () => {
    const lookup = guardLookup(mayReach, fixedLookup({ 'bank.test': ['203.0.113.1', '127.0.0.2'] }))
    const seen: unknown[] = []
    lookup('bank.test', { all: false }, (error, address) => seen.push(error, address))
    expect(seen[0]).toBeInstanceOf(DeniedAddressError)
    const one: unknown[] = []
    const good = guardLookup(mayReach, fixedLookup({ 'bank.test': ['203.0.113.1', '203.0.113.2'] }))
    good('bank.test', { all: false }, (...answer) => one.push(...answer))
    expect(one).toEqual([null, '203.0.113.1', 4])
  })

  it('The look-up checks the addresses that may be dialled, however many the name has', () => {
    const checked: string[] = []
    const addresses = listAddresses(4_000)
    const lookup = guardLookup(
      (_hostname, address) => {
        checked.push(address)
        return true
      },
      fixedLookup({ 'bank.test': addresses }),
    )
    const seen: unknown[] = []
    lookup('bank.test', { all: true }, (...answer) => seen.push(answer))
    const dialled = addresses.slice(0, ADDRESSES_TRIED_MAX)
    expect(seen).toEqual([[null, dialled.map((address) => ({ address, family: 4 }))]])
    expect(checked).toEqual(dialled)
  })

  it('The look-up passes on that a name does not exist', () => {
    const seen: unknown[] = []
    guardLookup(mayReach, fixedLookup({}))('none.test', { all: true }, (error) => seen.push(error?.code))
    expect(seen).toEqual(['ENOTFOUND'])
  })
})
