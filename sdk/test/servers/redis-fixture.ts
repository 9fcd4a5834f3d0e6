import { Cluster, Redis } from 'ioredis'
import { type RedisEffect, type RedisEffects, redisBarrier } from '../../src/barrier/redis.ts'
import type { BarrierCall } from '../../src/index.ts'
import type { SuiteEffect } from '../barrier/barrier-fixture.ts'
import type { MessageFixture } from '../barrier/message-suite.ts'
import { suiteClock } from '../barrier/suite-clock.ts'

// An effect is an element of a list. Like every script for Redis it looks first and writes last, so what fails has
// not written.
const ACT = `if ARGV[2] == 'fail' then return failure('SAID_NO', 'said no') end
if ARGV[2] == 'not-yet' then return ongoing(1500) end
if ARGV[2] == 'break' then error('broken on purpose') end
redis.call('RPUSH', KEYS[1], ARGV[1])
if ARGV[2] == 'tell-original' then
  return successJson(original and '{"original":' .. original .. '}' or '{}')
end
if ARGV[3] ~= '' then return success(cjson.decode(ARGV[3])) end`

// The suite's answers are JSON that JavaScript wrote; Lua would write null and 0.1 in its own way.
const ECHO = ACT.replace('return success(cjson.decode(ARGV[3]))', 'return successJson(ARGV[3])')

function actOnRedis(tx: RedisEffects, key: string, { op }: BarrierCall, effect: SuiteEffect): RedisEffect {
  const answer = effect.does === 'succeed' && effect.answer !== undefined ? JSON.stringify(effect.answer) : ''
  return tx.script(ECHO, [key], [op, effect.does, answer])
}

function connect(url: string): Redis | Cluster {
  if (!url.startsWith('redis-cluster://')) return new Redis(url)
  const nodes = url.slice('redis-cluster://'.length).split(',')
  return new Cluster(
    nodes.map((node) => ({ host: node.split(':')[0] ?? '', port: Number(node.split(':')[1]) })),
  )
}

export async function openRedisFixture(url: string): Promise<MessageFixture> {
  const redis = connect(url)
  // Another process, whose order with this one is the server's choice.
  const asking = connect(url)
  const run = crypto.randomUUID().slice(0, 8)
  const prefix = `sdk-${run}`
  const toTag = ({ gid }: BarrierCall): string => `${run}-${gid}`
  const barrier = redisBarrier(redis, { prefix, hashTag: toTag, now: suiteClock.now })
  const effectsKey = (gid: string): string => `effects:{${run}-${gid}}`
  return {
    run: (call, effect) => barrier.run(call, (tx) => actOnRedis(tx, effectsKey(call.gid), call, effect)),
    queryPrepared: redisBarrier(asking, { prefix, hashTag: toTag }).queryPrepared,
    effects: (gid) => redis.lrange(effectsKey(gid), 0, -1),
    rows: async (gid) => {
      const key = `${prefix}:{${run}-${gid}}:${gid.length}:${gid}:2:01:01`
      return (await redis.hkeys(key)).filter((field) => !/:(answer|at)$/.test(field)).length
    },
    rollsBack: false,
    close: async () => {
      await asking.quit()
      await redis.quit()
    },
  }
}
