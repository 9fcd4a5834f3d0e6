import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  buildBundles,
  type LogLine,
  type RuntimeClient,
  startFunction,
  startHttpFront,
} from '@counterstep/lambda-emulator'
import { describeLambda } from '@counterstep/lambda-emulator/vitest'
import { newGid } from '@counterstep/sdk'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it, onTestFinished } from 'vitest'
import { startFunctionFixture } from './support/function-fixture.ts'
import { order } from './support/workflow-function/order.ts'

const TEST_MS_MAX = 240_000
const END_MS_MAX = 60_000
const PARTS = ['cup', 'lid', 'box', 'bow', 'tag'] as const

/** Starts the service of the workflow, which is a function behind a Function URL itself. */
async function startShop(client: RuntimeClient, logFolder: string, lines: LogLine[]): Promise<string> {
  const shop = startFunction(client, {
    name: 'shop',
    taskRoot: join(import.meta.dirname, 'support/workflow-function'),
    handler: 'index.handler',
    variables: {},
    memoryMb: 256,
    timeoutMs: 8_000,
    initTimeoutMs: 60_000,
    reservedConcurrency: 2,
    logFolder,
    onLine: (line) => lines.push(line),
  })
  onTestFinished(() => shop.stop())
  const front = await startHttpFront({ target: shop, endpoint: 'function-url' })
  onTestFinished(() => front.stop())
  return front.url
}

describeLambda('a workflow in functions', (runtime) => {
  describeOn('elasticmq', 'with a queue', (queueServerUrl) => {
    describeOn('mariadb', 'on a store', (storeServerUrl) => {
      it(
        'A workflow of five steps and two sleeps goes over three invocations, and its handler is a function too',
        async () => {
          const folder = await mkdtemp(join(tmpdir(), 'counterstep-functions-'))
          onTestFinished(() => rm(folder, { recursive: true, force: true }))
          await buildBundles(folder)
          const lines: LogLine[] = []
          const url = await startShop(runtime, folder, lines)
          const fixture = await startFunctionFixture({
            ...{ client: runtime, queueServerUrl, storeServerUrl, folder },
            targets: [url],
            variables: { COUNTERSTEP_ACCEPT_NEW_KINDS: 'true' },
          })
          onTestFinished(() => fixture.close())

          const gid = newGid()
          const input = { parts: PARTS }
          await fixture.client.start(order, { gid, handler: `${url}/workflows`, input })
          const view = await fixture.client.wait(gid, { timeoutMs: END_MS_MAX })
          expect(view).toMatchObject({ status: 'succeeded' })
          expect(view.result).toEqual({ packed: PARTS.map((part) => part.toUpperCase()) })
          const packed = lines.flatMap(({ text }) => /packs (\w+)/.exec(text)?.[1] ?? [])
          // Without a barrier a step runs at least once: a call that an invocation's end has cut comes again.
          expect([...new Set(packed)]).toEqual(PARTS)
          // Beside the submit, each sleep was longer than an invocation holds a transaction, and ended in another one.
          const later = fixture.reports.filter(({ functionName }) =>
            ['worker', 'slow'].includes(functionName),
          )
          expect(later.length).toBeGreaterThanOrEqual(2)
          expect(later.every(({ outcome }) => outcome === 'answered')).toBe(true)
        },
        TEST_MS_MAX,
      )
    })
  })
})
