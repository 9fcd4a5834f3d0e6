import type { NewTransaction, StoredTransaction } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import { type RedisServer, startRedis } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { InFlight } from '../src/links/in-flight.ts'
import { ServerLink } from '../src/links/server-link.ts'
import type { RedisStore } from '../src/redis-store.ts'
import { eventually } from './eventually.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { openedForTests } from './open-stores.ts'
import { type SlowLink, startSlowLink } from './slow-link.ts'
import { aTransaction, created, dueTransaction, tokens } from './transactions.ts'

const COMMAND_TIMEOUT_MS = 1_000
const LARGE_ROWS = 30
const LARGE = JSON.stringify('x'.repeat(200_000))

describeOwn('redis', 'a slow link to Redis', () => {
  const { open } = openedForTests()
  let server: RedisServer
  let link: SlowLink
  beforeEach(async () => {
    server = await startRedis()
    link = await startSlowLink(server.port)
  })
  afterEach(async () => {
    await link.close()
    await server.stop()
  })

  /** Opens a store through the link, and one beside it. */
  async function openBoth(): Promise<{ readonly slow: RedisStore; readonly fast: RedisStore }> {
    const { store: fast, keyPrefix } = await open(server.url)
    const { store: slow } = await open(link.url, { keyPrefix, commandTimeoutMs: COMMAND_TIMEOUT_MS })
    return { slow, fast }
  }

  it('Large due rows come in several claims, and each is claimed exactly once', async () => {
    const { slow, fast } = await openBoth()
    for (let i = 0; i < LARGE_ROWS; i++) {
      await created(fast, { ...dueTransaction(`g-${i}`), definition: LARGE })
    }
    link.slow(3_000_000)
    const claimed: StoredTransaction[] = []
    for (let isMore = true; isMore; ) {
      const claim = { limit: 100, leaseMs: 60_000, tokens: tokens(100), formatMax: 1 }
      const result = await slow.claimDue(claim)
      // Five rows of 200 kB are nearly a mebibyte. The last answer may have fewer.
      expect(result.claimed.length).toBeLessThanOrEqual(5)
      isMore = result.mayBeMore ?? false
      claimed.push(...result.claimed)
    }
    expect(new Set(claimed.map((row) => row.gid)).size).toBe(LARGE_ROWS)
    for (const row of claimed) expect(row).toMatchObject({ claimsWithoutProgress: 1, definition: LARGE })
    expect(slow.counters().breaks).toBe(0)
  })

  it('A row that is larger than a claim may be comes by itself', async () => {
    const { store } = await open(server.url)
    for (const gid of ['a', 'b']) {
      await created(store, { ...dueTransaction(gid), definition: LARGE.repeat(7) })
    }
    const claim = () => store.claimDue({ limit: 100, leaseMs: 60_000, tokens: tokens(100), formatMax: 1 })
    const sizes = [await claim(), await claim(), await claim()]
    expect(sizes.map(({ claimed, mayBeMore }) => [claimed.length, mayBeMore])).toEqual([
      [1, true],
      [1, undefined],
      [0, undefined],
    ])
  })

  it('Many large rows can be read at once over a slow link', async () => {
    const { slow, fast } = await openBoth()
    const gids = Array.from({ length: LARGE_ROWS }, (_, i) => `g-${i}` as Gid)
    for (const gid of gids) await created(fast, aTransaction(gid, { definition: LARGE }))
    link.slow(3_000_000)
    const rows = await slow.readMany([...gids, 'absent' as Gid])
    expect(rows.map((row) => row.gid).sort()).toEqual([...gids].sort())
    for (const row of rows) expect(row.definition).toBe(LARGE)
    expect(slow.counters().breaks).toBe(0)
  })

  it('A slow link ends in no livelock: some writes land each time when there are too many', async () => {
    const { slow, fast } = await openBoth()
    link.slow(300_000)
    const writes = Array.from({ length: 60 }, (_, i) =>
      aTransaction(`w-${i}`, { definition: JSON.stringify('y'.repeat(20_000)) }),
    )
    // Each write is sent again until the answer is definite, like the engine does. The link takes 15 writes a second.
    await Promise.all(writes.map((write) => createUntilDefinite(slow, write)))
    expect(await fast.readMany(writes.map((write) => write.gid))).toHaveLength(writes.length)
    expect(slow.counters().breaks).toBeGreaterThan(1)
  })

  async function createUntilDefinite(store: RedisStore, write: NewTransaction): Promise<void> {
    await eventually(`${write.gid} is created`, async () => {
      const result = await store.create(write).catch((error) => error)
      if (!('applied' in result)) expect(result.type).toBe('created')
      return result.type === 'created'
    })
  }

  it('A command counts as in flight until its answer or the end of its connection, on a link that drips', async () => {
    const inFlight = new InFlight({ commandsInFlightMax: 100, bytesInFlightMax: 10_000_000 })
    const [host = '', port] = link.url.slice('redis://'.length).split(':')
    const settings = { db: 0, commandTimeoutMs: COMMAND_TIMEOUT_MS, connectTimeoutMs: COMMAND_TIMEOUT_MS }
    const reasons: Error[] = []
    const raw = new ServerLink({ host, port: Number(port) }, settings, inFlight, {
      restored: () => undefined,
      lost: (_, reason) => reasons.push(reason),
    })
    try {
      await raw.opened
      link.slow(10_000)
      // The small writes before it are answered one after the other, so the connection is never silent for long.
      const small = Array.from({ length: 20 }, () => raw.send('echo', ['x'.repeat(1_000)]))
      const large = raw.send('set', ['large', 'x'.repeat(2_000_000)])
      const settled = Promise.allSettled(small)
      const startAt = performance.now()
      await expectUnavailable(large, 'unknown')
      expect(performance.now() - startAt).toBeLessThan(COMMAND_TIMEOUT_MS + 1_000)
      expect(raw.isUp).toBe(false)
      const outcomes = (await settled).map(({ status }) => status)
      expect(outcomes.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'fulfilled'))
      expect(outcomes.at(-1)).toBe('rejected')
      expect(inFlight.commands).toBe(0)
      expect(reasons.map(({ message }) => message)).toEqual(['Redis did not answer in time'])
    } finally {
      raw.close()
    }
  })
})
