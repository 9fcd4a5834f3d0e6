import { type RedisServer, startRedis } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Bed } from './bed.ts'
import { runSagas } from './saga-callers.ts'

const SAGAS = 10
/** Nothing but the sagas themselves asks the store meanwhile. */
const QUIET = { 'lease-ms': 600_000, 'poll-ms': 600_000 } as const

describeOwn('redis', 'what a saga costs in calls of Redis', () => {
  let server: RedisServer
  let redis: Redis
  let bed: Bed

  beforeAll(async () => {
    server = await startRedis()
    redis = new Redis(server.url)
    bed = await Bed.start(server.url, 1, QUIET)
    await runSagas(bed, 'warm', { callers: 1, each: SAGAS, branches: 2 })
  })

  afterAll(async () => {
    redis.disconnect()
    await bed.stop()
    await server.stop()
  })

  it('is the same for 2 branches as for 20', async () => {
    const costs: number[] = []
    for (const branches of [2, 20]) {
      const before = await scriptCalls(redis)
      await runSagas(bed, `with-${branches}`, { callers: 1, each: SAGAS, branches })
      costs.push((await scriptCalls(redis)) - before)
    }
    const [two, twenty] = costs
    process.stdout.write(`redis: ${SAGAS} sagas with 2 branches: ${two} scripts; with 20: ${twenty}\n`)
    expect(twenty).toBe(two)
    expect(two).toBe(2 * SAGAS)
  })
})

async function scriptCalls(redis: Redis): Promise<number> {
  const info = await redis.info('commandstats')
  return [...info.matchAll(/^cmdstat_(?:evalsha|evalsha_ro|eval):calls=(\d+)/gm)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  )
}
