import { describeOn } from '@counterstep/test-servers/vitest'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { checkBarrier, type RedisEffect, type RedisEffects, redisBarrier } from '../../src/barrier/redis.ts'
import { answerBranch } from '../../src/http/answer-branch.ts'
import { type BarrierCall, BranchFailure } from '../../src/index.ts'
import { barrierSuite } from '../barrier/barrier-suite.ts'
import { messageSuite } from '../barrier/message-suite.ts'
import { callUrl } from '../branch/call-url.ts'
import { openRedisFixture } from './redis-fixture.ts'

for (const server of ['redis', 'redis-cluster'] as const) {
  describeOn(server, 'the Redis barrier', (url) => {
    const name = server === 'redis' ? 'Redis' : 'Redis Cluster'
    barrierSuite({ name, open: () => openRedisFixture(url), width: 64 })
    messageSuite({ name, open: () => openRedisFixture(url), width: 64 })
  })
}

describeOn('redis', 'the Redis barrier beside the truth table', (url) => {
  let redis: Redis
  let gids = 0
  const run = crypto.randomUUID().slice(0, 8)
  const newCall = (): BarrierCall => ({ gid: `${run}-${++gids}`, branchId: '01', op: 'action' })
  beforeAll(() => {
    redis = new Redis(url)
  })
  afterAll(() => redis.quit())

  it('A debit keeps to its minimum, and a duplicate gets the first answer though the account is drained', async () => {
    const key = `account:${run}`
    await redis.set(key, 100)
    const barrier = redisBarrier(redis)
    const call = newCall()
    const debit = (tx: RedisEffects) => tx.add({ key, delta: -100, minimum: 0 })
    expect(await barrier.run(call, debit)).toEqual({ decision: 'run', answer: '{"value":0}' })
    expect(await barrier.run(call, debit)).toEqual({ decision: 'duplicate', answer: '{"value":0}' })
    await expect(barrier.run(newCall(), debit)).rejects.toMatchObject({
      branchResult: 'failure',
      code: 'INSUFFICIENT',
    })
    await redis.set(key, -500)
    const undo = await barrier.run({ ...call, op: 'compensate' }, (tx) => tx.add({ key, delta: 100 }))
    expect(undo).toEqual({ decision: 'run', answer: '{"value":-400}' })
  })

  it('The Redis barrier answers a value with every digit up to 2^53', async () => {
    const key = `large:${run}`
    await redis.set(key, '9007199254740990')
    const barrier = redisBarrier(redis)
    const up = await barrier.run(newCall(), (tx) => tx.add({ key, delta: 1 }))
    const down = await barrier.run(newCall(), (tx) => tx.add({ key, delta: -9007199254740991 }))
    expect([up.answer, down.answer]).toEqual(['{"value":9007199254740991}', '{"value":0}'])
    const negative = await barrier.run(newCall(), (tx) => tx.add({ key, delta: -123456789012345 }))
    expect(negative.answer).toBe('{"value":-123456789012345}')
    expect(await redis.get(key)).toBe('-123456789012345')
  })

  it('A missing account, and a value that Lua cannot compute with, are refused before anything is written', async () => {
    const key = `odd:${run}`
    const barrier = redisBarrier(redis)
    const add = (tx: RedisEffects) => tx.add({ key, delta: 1, minimum: 0 })
    await expect(barrier.run(newCall(), add)).rejects.toBeInstanceOf(BranchFailure)
    await redis.set(key, '9007199254740993')
    await expect(barrier.run(newCall(), add)).rejects.toMatchObject({ code: 'BARRIER_EFFECT_BROKEN' })
    expect(await redis.get(key)).toBe('9007199254740993')
    const fraction = (tx: RedisEffects) => tx.add({ key, delta: 0.5 })
    await expect(barrier.run(newCall(), fraction)).rejects.toBeInstanceOf(TypeError)
  })

  it('An answer that no JSON can say, or that looks like an outcome, leaves the effect done once', async () => {
    const barrier = redisBarrier(redis)
    const key = `answers:${run}`
    const answers = [
      ['0/0', ''],
      ['success(1/0)', ''],
      ['redis.call', ''],
      ["{ result = 'failure' }", '{"result":"failure"}'],
      ['successJson()', ''],
      ['successJson(7)', '7'],
    ]
    for (const [lua, answer] of answers) {
      const call = newCall()
      const push = (tx: RedisEffects) => tx.script(`redis.call('INCR', KEYS[1]) return ${lua}`, [key])
      for (const decision of ['run', 'duplicate']) {
        const outcome = await barrier.run(call, push)
        expect([outcome.decision, outcome.answer ?? '']).toEqual([decision, answer])
      }
    }
    expect(await redis.get(key)).toBe(String(answers.length))
  })

  it('The barrier serves on when the server has forgotten its scripts', async () => {
    const barrier = redisBarrier(redis)
    const call = newCall()
    const add = (tx: RedisEffects) => tx.add({ key: `flushed:${run}`, delta: 1 })
    await barrier.run(call, add)
    await redis.script('FLUSH')
    expect((await barrier.run(call, add)).decision).toBe('duplicate')
    expect(await redis.get(`flushed:${run}`)).toBe('1')
  })

  it('The rows of the Redis barrier are kept as long as the retention', async () => {
    const call = newCall()
    const prefix = `ttl-${run}`
    const retentionMs = 2 * 24 * 3_600_000
    await redisBarrier(redis, { prefix, retentionMs }).run(call, (tx) => tx.script('return', []))
    const [key] = await redis.keys(`${prefix}:*`)
    const ttlMs = await redis.pttl(key ?? '')
    expect(ttlMs).toBeGreaterThan(retentionMs - 60_000)
    expect(ttlMs).toBeLessThanOrEqual(retentionMs)
  })

  it('A duplicate and a null compensation ask for no payload', async () => {
    const barrier = redisBarrier(redis)
    const refuse = (): RedisEffect => {
      throw new BranchFailure('no such account')
    }
    const call = newCall()
    await barrier.run(call, (tx) => tx.script('return', []))
    expect((await barrier.run(call, refuse)).decision).toBe('duplicate')
    const undone = newCall()
    expect((await barrier.run({ ...undone, op: 'compensate' }, refuse)).decision).toBe('null-compensation')
    expect((await barrier.run(undone, refuse)).decision).toBe('already-compensated')
    await expect(barrier.run(newCall(), refuse)).rejects.toThrow('no such account')
  })

  it('Keys in another slot are refused before anything is written, and a cluster without a hash tag when the barrier is made', async () => {
    const barrier = redisBarrier(redis, { hashTag: () => 'one' })
    const apart = barrier.run(newCall(), (tx) => tx.add({ key: 'apart:{two}', delta: 1 }))
    await expect(apart).rejects.toMatchObject({ code: 'BARRIER_KEYS_APART' })
    expect(await redis.exists('apart:{two}')).toBe(0)
    const cluster = Object.assign(Object.create(redis), { isCluster: true })
    expect(() => redisBarrier(cluster)).toThrow(/hashTag/)
    expect(() => redisBarrier(redis, { prefix: 'a{b}' })).toThrow(/braces/)
  })

  it.each(['at', 'own', 'barrier', 'state', 'reason', 'made', 'decision', 'outcome', 'answer'])(
    'An effect that sets the variable %s without a local is made once, though ours has that name',
    async (name) => {
      const key = `globals:${run}:${name}`
      const call = newCall()
      const effect = (tx: RedisEffects) =>
        tx.script(`redis.call('INCR', KEYS[1]) ${name} = 'x' return 7`, [key])
      for (const decision of ['run', 'duplicate'])
        expect(await redisBarrier(redis).run(call, effect)).toEqual({ decision, answer: '7' })
      expect(await redis.get(key)).toBe('1')
    },
  )

  it('A variable without a local that is none of ours is refused, as Redis does', async () => {
    const effect = (tx: RedisEffects) => tx.script("seen = 'x'", [])
    await expect(redisBarrier(redis).run(newCall(), effect)).rejects.toMatchObject({
      code: 'BARRIER_EFFECT_BROKEN',
    })
  })

  it.each(["{ err = 'x', id = 7 }", '{ err = cjson.null }'])(
    'A table of its own that has an err besides is an answer: %s',
    async (table) => {
      const effect = (tx: RedisEffects) => tx.script(`return ${table}`, [])
      expect(await redisBarrier(redis).run(newCall(), effect)).toMatchObject({ decision: 'run' })
    },
  )

  it.each([["redis.error_reply('NOFUNDS too little')"], ["redis.pcall('NONSENSE')"]])(
    'What Redis itself calls an error is no answer: %s',
    async (lua) => {
      const call = newCall()
      const effect = (tx: RedisEffects) => tx.script(`return ${lua}`, [])
      for (const _ of [1, 2])
        await expect(redisBarrier(redis).run(call, effect)).rejects.toMatchObject({
          code: 'BARRIER_EFFECT_BROKEN',
        })
      const answer = (tx: RedisEffects) => tx.script("return success({ err = 'mine' })", [])
      expect(await redisBarrier(redis).run(newCall(), answer)).toMatchObject({ answer: '{"err":"mine"}' })
    },
  )

  it('A script that fails, or a server that is gone, is answered with 500 and never with 409', async () => {
    const url = callUrl({ gid: newCall().gid, trans_type: 'saga', branch_id: '01', op: 'action' })
    const broken = (tx: RedisEffects) => tx.script("redis.call('NONSENSE')", [])
    const answered = await answerBranch(redisBarrier(redis), broken, { url, headers: {} })
    expect(answered.answer).toMatchObject({ statusCode: 500, body: '{"code":"BARRIER_EFFECT_BROKEN"}' })
    const gone = new Redis(url, { lazyConnect: true, enableOfflineQueue: false })
    const unreachable = await answerBranch(redisBarrier(gone), broken, { url, headers: {} })
    expect(unreachable.answer).toMatchObject({ statusCode: 500, body: '{"code":"BRANCH_ERROR"}' })
  })

  it('The check of the barrier finds that keys may be evicted and that appendonly is off', async () => {
    expect(await checkBarrier(redis)).toBeUndefined()
    const volatile = { ...unused, info: async () => 'maxmemory_policy:volatile-lru\naof_enabled:0\n' }
    await expect(checkBarrier(volatile)).rejects.toThrow(/noeviction; appendonly is off/)
  })

  it('The check of the barrier finds that the log is never flushed, and goes on where the server hides it', async () => {
    const user = `hidden-${run}`
    await redis.acl('SETUSER', user, 'on', 'nopass', '~*', '+@all', '-config')
    const hidden = new Redis(url, { username: user, password: 'any' })
    onTestFinished(async () => {
      hidden.disconnect()
      await redis.acl('DELUSER', user)
    })
    expect(await checkBarrier(hidden)).toBeUndefined()
    const unflushed = new Proxy(redis, {
      get: (target, name) =>
        name === 'config' ? async () => ['appendfsync', 'no'] : Reflect.get(target, name, target),
    })
    await expect(checkBarrier(unflushed)).rejects.toThrow(/appendfsync is no/)
  })

  for (const lacking of ['hset', 'pexpire', 'hmget', 'hget', 'evalsha']) {
    it(`The check of the barrier finds that its user may not send ${lacking}`, async () => {
      const user = `lacks-${lacking}-${run}`
      const commands = ['eval', 'evalsha', 'hget', 'hmget', 'hset', 'pexpire', 'info']
      const keys = '~own:barrier:*'
      const rights = commands.map((command) => `+${command}`)
      await redis.acl('SETUSER', user, 'on', 'nopass', keys, ...rights)
      const least = new Redis(url, { username: user, password: 'any' })
      onTestFinished(async () => {
        least.disconnect()
        await redis.acl('DELUSER', user)
      })
      expect(await checkBarrier(least, { prefix: 'own:barrier' })).toBeUndefined()
      await expect(checkBarrier(least)).rejects.toMatchObject({ code: 'BARRIER_MISCONFIGURED' })
      await redis.acl('SETUSER', user, `-${lacking}`)
      await expect(checkBarrier(least, { prefix: 'own:barrier' })).rejects.toThrow(
        /the barrier's script fails/,
      )
      await expect.poll(() => redis.keys('*self-check*'), { timeout: 5_000 }).toEqual([])
    })
  }
})

const unused = {
  eval: () => Promise.reject(new Error('unused')),
  evalsha: () => Promise.reject(new Error('unused')),
}

describe('the hash slot', () => {
  it('The hash slot of a key is the one that the cluster computes', async () => {
    const { computeHashSlot } = await import('../../src/barrier/redis/hash-slot.ts')
    // These slots are those of the Redis Cluster specification and of CLUSTER KEYSLOT.
    expect(computeHashSlot('123456789')).toBe(12_739)
    expect(computeHashSlot('{user1000}.following')).toBe(computeHashSlot('{user1000}.followers'))
    expect(computeHashSlot('foo{}{bar}')).toBe(8_363)
    expect(computeHashSlot('foo{{bar}}zap')).toBe(computeHashSlot('{bar'))
  })
})
