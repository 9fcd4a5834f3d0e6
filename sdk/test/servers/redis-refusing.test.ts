import { type RedisServer, startRedis } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RedisEffects, redisBarrier } from '../../src/barrier/redis.ts'
import { answerBranch } from '../../src/http/answer-branch.ts'
import { callUrl } from '../branch/call-url.ts'

const UNAVAILABLE = { statusCode: 500, body: '{"code":"BRANCH_ERROR"}' }
const BROKEN = { statusCode: 500, body: '{"code":"BARRIER_EFFECT_BROKEN"}' }
const add = (tx: RedisEffects) => tx.add({ key: 'account', delta: 5 })

describeOwn('redis', 'the Redis barrier while its server refuses to write', () => {
  let server: RedisServer
  let redis: Redis
  let gids = 0
  beforeAll(async () => {
    server = await startRedis()
    redis = new Redis(server.url)
  })
  beforeEach(() => redis.del('account'))
  afterAll(async () => {
    await redis.quit()
    await server.stop()
  })

  function call(gid: string, effect: typeof add = add) {
    const url = callUrl({ gid, trans_type: 'saga', branch_id: '01', op: 'action' })
    return answerBranch(redisBarrier(redis), effect, { url, headers: {}, payload: {} })
  }

  for (const [what, begin, end] of [
    ['it is out of memory', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
    ['it has become a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
    [
      'it has too few replicas',
      ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
      ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
    ],
    [
      'its user may not write',
      ['ACL', 'SETUSER', 'default', '-incrby'],
      ['ACL', 'SETUSER', 'default', '+@all'],
    ],
  ] as const) {
    it(`A call is unavailable while Redis refuses because ${what}, and runs once when that is over`, async () => {
      const gid = `refused-${++gids}`
      await redis.call(begin[0], ...begin.slice(1))
      const refused = await call(gid).finally(() => redis.call(end[0], ...end.slice(1)))
      expect([refused.answer, String(refused.error)]).toMatchObject([UNAVAILABLE, expect.any(String)])
      expect((await call(gid)).answer.statusCode).toBe(200)
      expect((await call(gid)).answer.headers['counterstep-barrier']).toBe('duplicate')
      expect(await redis.get('account')).toBe('5')
    })
  }

  it('A call whose script an operator killed is unavailable', async () => {
    await redis.config('SET', 'busy-reply-threshold', '10')
    const other = redis.duplicate()
    await other.ping()
    const endless = call('killed', (tx) => tx.script('while true do end', []))
    let killed: unknown
    // It is tried until the script is slow enough to be killed.
    while (killed !== 'OK') killed = await other.script('KILL').catch((error: unknown) => error)
    expect((await endless).answer).toMatchObject(UNAVAILABLE)
    await other.quit()
  })

  for (const [what, script] of [
    ['an error of its own', "error('broken on purpose')"],
    ['an error reply of its own', "error({ err = 'MINE broken on purpose' })"],
    ['a command that there is not', "redis.call('NONSENSE')"],
    ['a key of another type', "redis.call('RPUSH', KEYS[1], 'a') redis.call('INCR', KEYS[1])"],
    ['an operation on nil', 'local nothing = nil + 1'],
    ['a script that does not compile', 'this is no Lua'],
    ['an error that names a state of the server', "error('OOM in my own words')"],
  ] as const) {
    it(`An effect that ended in ${what} is answered as a bug of the effect`, async () => {
      const effect = (tx: RedisEffects) => tx.script(script, ['account'])
      expect((await call(`broken-${++gids}`, effect)).answer).toMatchObject(BROKEN)
    })
  }
})

const of = (name: string, message: string) => Object.assign(new Error(message), { name })

describe('errors that no server of this run gives', () => {
  for (const [what, error, answer] of [
    [
      'of a socket whose path names a script',
      of('Error', 'connect ECONNREFUSED /run/user_script:1/redis.sock'),
      UNAVAILABLE,
    ],
    [
      'of a Redis 6 that is out of memory',
      of(
        'ReplyError',
        "ERR Error running script (call to f_1): @user_script:9: @user_script: 9: -OOM command not allowed when used memory > 'maxmemory'.",
      ),
      UNAVAILABLE,
    ],
    [
      'of a Redis 6 that found a key of another type',
      of(
        'ReplyError',
        'ERR Error running script (call to f_1): @user_script:9: WRONGTYPE Operation against a key holding the wrong kind of value',
      ),
      BROKEN,
    ],
  ] as const) {
    it(`An error ${what} is answered with ${answer.body}`, async () => {
      const command = () => Promise.reject(error)
      const barrier = redisBarrier({ eval: command, evalsha: command, info: command })
      const url = callUrl({ gid: 'named', trans_type: 'saga', branch_id: '01', op: 'action' })
      expect((await answerBranch(barrier, add, { url, headers: {} })).answer).toMatchObject(answer)
    })
  }
})
