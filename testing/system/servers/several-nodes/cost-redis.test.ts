import { type RedisServer, startRedis } from '@counterstep/test-servers'
import { until } from '@counterstep/test-servers/until'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Fixture } from './fixture.ts'
import { runSagas } from './saga-callers.ts'

const SAGAS = 10
/** Nothing but the sagas themselves asks the store meanwhile, but its own look for a lost tail now and then. */
const QUIET = { 'lease-ms': 600_000, 'poll-ms': 600_000 } as const
const STUCK_MS = 5_000

describeOwn('redis', 'what a saga costs in calls of Redis', () => {
  const commands: string[][] = []
  let server: RedisServer
  let monitor: Redis
  let redis: Redis
  let fixture: Fixture

  beforeAll(async () => {
    server = await startRedis()
    redis = new Redis(server.url)
    monitor = await redis.monitor()
    monitor.on('monitor', (_at: string, command: string[]) => commands.push(command))
    fixture = await Fixture.start(server.url, 1, QUIET)
    await runSagas(fixture, 'warm', { callers: 1, each: SAGAS, branches: 2 })
  })

  afterAll(async () => {
    monitor.disconnect()
    redis.disconnect()
    await fixture.stop()
    await server.stop()
  })

  /** Counts the scripts up to now that name these sagas. */
  async function scriptsAbout(word: string): Promise<number> {
    const mark = `told-${word}`
    await redis.echo(mark)
    await until('the monitor has told everything', STUCK_MS, () =>
      commands.some((each) => each.includes(mark)),
    )
    return commands.filter(
      ([name = '', ...args]) => /^eval/i.test(name) && args.some((arg) => arg.includes(`${word}-`)),
    ).length
  }

  it('A saga costs the same number of scripts for 2 branches as for 20', async () => {
    const scripts: number[] = []
    for (const branches of [2, 20]) {
      const word = `with-${branches}-branches`
      await runSagas(fixture, word, { callers: 1, each: SAGAS, branches })
      scripts.push(await scriptsAbout(word))
    }
    const [two, twenty] = scripts
    process.stdout.write(`redis: ${SAGAS} sagas with 2 branches: ${two} scripts; with 20: ${twenty}\n`)
    expect(twenty).toBe(two)
    expect(two).toBe(2 * SAGAS)
  })
})
