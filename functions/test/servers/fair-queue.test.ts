import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { buildBundles } from '@counterstep/lambda-emulator'
import { describeLambda } from '@counterstep/lambda-emulator/vitest'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type FunctionFixture, startFunctionFixture } from './support/function-fixture.ts'

const BUILD_MS_MAX = 120_000
const TEST_MS_MAX = 240_000
/** Messages that wait come back after the same time, so it is longer than the test. */
const TIMEOUT_MS = 120_000
/** It is under half of QuickCallMs, so these calls are not slow ones. */
const CALL_MS = 900
/** One worker takes ten of them in a run, which lasts as long as a call. */
const BURST = 200
const DUE_IN_MS = 20_000
/** A run that has begun goes on, and the saga waits for a second by itself. The whole burst takes longer than 18 s. */
const OTHER_MS_MAX = 9_000

describeLambda('S40: a burst of one key', (client) => {
  describeOn('elasticmq', 'with fair queues', (queueServerUrl) => {
    describeOn('redis', 'on a store', (storeServerUrl) => {
      const service = createServer((_request, response) => void pause(CALL_MS).then(() => response.end('{}')))
      let [folder, slowUrl] = ['', '']
      let fixture: FunctionFixture

      beforeAll(async () => {
        folder = await mkdtemp(join(tmpdir(), 'counterstep-fair-'))
        await buildBundles(folder)
        await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
        slowUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
        fixture = await startFunctionFixture({
          ...{ client, queueServerUrl, storeServerUrl, folder, targets: [slowUrl] },
          ...{ timeoutMs: TIMEOUT_MS, batchesMax: 1, isFair: true },
        })
      }, BUILD_MS_MAX)
      afterAll(async () => {
        await fixture.close()
        service.closeAllConnections()
        service.close()
        await rm(folder, { recursive: true, force: true })
      }, BUILD_MS_MAX)

      async function submit(apiKey: string, url: string, more: object): Promise<string> {
        const gid = randomUUID()
        const branches = [{ id: '01', action: url, compensation: url }]
        const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
        const body = JSON.stringify({ gid, branches, ...more })
        const response = await fetch(`${fixture.url}/v1/transactions`, { method: 'POST', headers, body })
        await response.arrayBuffer()
        expect(response.status).toBeLessThan(300)
        return gid
      }

      it(
        'A retry of another key overtakes many delayed sagas that are due at one instant',
        async () => {
          const { apiKey, otherKey } = fixture.secrets
          fixture.branch.rule = ({ attempt }) => ({ status: attempt === 1 ? 503 : 200 })
          const dueAt = Date.now() + DUE_IN_MS
          for (let n = 0; n < BURST; n++)
            await submit(apiKey, slowUrl, { delayMs: Math.max(1, dueAt - Date.now()) })
          await pause(Math.max(0, dueAt + 2_500 - Date.now()))
          const startedAt = performance.now()
          const retry = { initialMs: 1_000, factor: 1, jitter: 0 }
          const gid = await submit(otherKey, `${fixture.branch.url}/account`, { retry })
          const hasEnded = async () => (await fixture.client.get(gid))?.status === 'succeeded'
          await vi.waitUntil(hasEnded, { timeout: TEST_MS_MAX / 2, interval: 100 })
          const tookMs = Math.round(performance.now() - startedAt)
          process.stdout.write(
            `the saga beside ${BURST} delayed ones of another key ended after ${tookMs} ms\n`,
          )
          expect(tookMs).toBeLessThan(OTHER_MS_MAX)
        },
        TEST_MS_MAX,
      )
    })
  })
})
