import { type RedisServer, startRedis } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { redisBarrier } from '../../src/barrier/redis.ts'
import { answerBranch } from '../../src/http/answer-branch.ts'
import { callUrl } from '../branch/call-url.ts'

const TIMEOUT_MS = 400

describeOwn('redis', 'the Redis barrier while its server is stopped', () => {
  let server: RedisServer
  let redis: Redis
  beforeAll(async () => {
    server = await startRedis()
    redis = new Redis(server.url, { commandTimeout: TIMEOUT_MS })
    await redis.ping()
  })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })

  it("A call ends after ioredis's commandTimeout with 500, and the next one has one effect", async () => {
    const url = callUrl({ gid: 'stopped', trans_type: 'saga', branch_id: '01', op: 'action' })
    const call = () =>
      answerBranch(redisBarrier(redis), (tx) => tx.add({ key: 'account', delta: 5 }), {
        url,
        headers: {},
        payload: {},
      })
    await server.pause()
    const stopped = await call()
    await server.resume()
    expect(stopped).toMatchObject({
      answer: { statusCode: 500, body: '{"code":"BRANCH_ERROR"}' },
      error: { message: 'Command timed out' },
    })
    expect((await call()).answer.statusCode).toBe(200)
    expect(await redis.get('account')).toBe('5')
  })
})
