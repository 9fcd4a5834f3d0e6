import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { answerQueryBack } from '../../src/http/answer-query-back.ts'
import { isBranchError, isCounterstepError, type MessageBarrier } from '../../src/index.ts'
import type { MessageFixture } from '../barrier/message-suite.ts'
import { callUrl } from '../branch/call-url.ts'
import { serve } from '../served-server.ts'
import { openMysqlFixture } from './mysql-fixture.ts'
import { openPostgresFixture } from './postgres-fixture.ts'
import { openRedisFixture } from './redis-fixture.ts'

const MESSAGES = 1_000
const WIDTH = 24
const RESULTS = { 200: 'success', 409: 'failure', 425: 'ongoing' } as const

const FIXTURES = [
  ['mariadb', openMysqlFixture],
  ['mysql', openMysqlFixture],
  ['postgres', openPostgresFixture],
  ['redis', openRedisFixture],
  ['redis-cluster', openRedisFixture],
] as const

/** Makes the barrier that doAndSubmit needs: its local transaction writes one effect, when it may begin. */
function makeBarrier(
  fixture: MessageFixture,
  begin: (gid: string) => Promise<unknown>,
): MessageBarrier<undefined> {
  return {
    queryPrepared: (gid, options) => fixture.queryPrepared(gid, options),
    run: async (call) => {
      await begin(call.gid)
      return fixture.run(call, { does: 'succeed' })
    },
  }
}

for (const [server, open] of FIXTURES) {
  describeOn(server, 'two-phase messages', (url) => {
    it(`Each of ${MESSAGES} messages whose query-back comes at once is delivered if and only if its local transaction has committed`, async () => {
      const fixture = await open(url)
      const delivered = new Map<string, number>()
      await using orchestrator = await serve(async ({ gid, kind, branchId, op }) => {
        if (op !== 'msg') {
          delivered.set(gid, (delivered.get(gid) ?? 0) + 1)
          return { result: 'success', statusCode: 200 }
        }
        const url = callUrl({ gid, trans_type: kind, branch_id: branchId, op })
        const { statusCode } = (await answerQueryBack(fixture, { url, headers: {} })).answer
        return { result: RESULTS[statusCode as 200 | 409 | 425] ?? 'unknown', statusCode }
      })
      const seen = { succeeded: 0, failed: 0 }
      const send = async (number: number): Promise<void> => {
        // One begins certainly before its query-back, one certainly after it, and eight at about the same time.
        const [isEarly, isLate] = [number % 10 === 0, number % 10 === 1]
        const begin = async (gid: string) => (isLate ? orchestrator.client.wait(gid) : undefined)
        const message = orchestrator.client.message({
          gid: `order-${number}`,
          branches: [{ action: 'http://service/a' }],
          check: { url: 'http://sender/query', afterMs: isEarly ? 60_000 : (number % 10) + 1 },
        })
        const thrown = await message
          .doAndSubmit(makeBarrier(fixture, begin), () => undefined)
          .catch((error: unknown) => error)
        const { status } = await orchestrator.client.wait(message.gid)
        const effects = await fixture.effects(message.gid)
        expect([effects, delivered.get(message.gid) ?? 0]).toEqual(
          status === 'succeeded' ? [['msg'], 1] : [[], 0],
        )
        if (status === 'failed') {
          // The sender was told: by the barrier, or by the server before it began.
          const code = isBranchError(thrown) || isCounterstepError(thrown) ? thrown.code : thrown
          expect(['MESSAGE_REFUSED', 'SAGA_NOT_PREPARED']).toContain(code)
        } else expect(thrown).not.toBeInstanceOf(Error)
        if (status === 'succeeded' || status === 'failed') seen[status]++
      }
      let next = 0
      const walk = async (): Promise<void> => {
        for (let number = next++; number < MESSAGES; number = next++) await send(number)
      }
      const startedAt = performance.now()
      await Promise.all(Array.from({ length: WIDTH }, walk))
      const ms = Math.round(performance.now() - startedAt)
      console.log(`${server}: ${JSON.stringify(seen)} of ${MESSAGES} messages, ${ms} ms`)
      expect(seen.succeeded + seen.failed).toBe(MESSAGES)
      expect(Math.min(seen.succeeded, seen.failed)).toBeGreaterThanOrEqual(MESSAGES / 10)
      await fixture.close()
    }, 120_000)
  })
}
