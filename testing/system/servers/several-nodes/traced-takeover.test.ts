import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readEnvironment } from '@counterstep/test-servers'
import { until } from '@counterstep/test-servers/until'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import {
  findMissingPython,
  INSTALL_TIMEOUT_MS,
  installPythonTool,
} from '../../../../infra/test/python-tool.ts'
import { startForgetfulBank } from '../../e2e/traces/forgetful-bank.ts'
import { OtlpReceiver } from '../../e2e/traces/otlp-receiver.ts'
import { CALLER, toTree } from '../../e2e/traces/span-tree.ts'
import { view } from './node-client.ts'
import { NodeProcess } from './node-process.ts'
import { ownStore } from './own-store.ts'

const REQUIREMENTS = join(import.meta.dirname, '../../e2e/traces/requirements.txt')
/** Spans are sent each five seconds, and a lease runs for three. */
const SEEN_MS_MAX = 30_000

const missing = findMissingPython()
for (const server of ['mariadb', 'redis'] as const) {
  describeOn(server, 'a trace over two nodes', (storeUrl) => {
    it.skipIf(missing !== undefined && !readEnvironment().isCi)(
      'A saga whose node is killed goes on in the same trace on the other one',
      async () => {
        const receiver = await OtlpReceiver.start(installPythonTool('opentelemetry-proto', REQUIREMENTS))
        const store = await ownStore(storeUrl)
        const bank = await startForgetfulBank()
        const flags = { store: store.url, otlp: receiver.url, 'lease-ms': 3_000, 'poll-ms': 200 }
        const first = await NodeProcess.start(flags)
        const second = await NodeProcess.start(flags)
        const traceId = randomBytes(16).toString('hex')
        await fetch(`${first.url}/v1/transactions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', traceparent: `00-${traceId}-${CALLER}-01` },
          body: JSON.stringify({ gid: traceId, branches: [{ id: 'debit', action: bank.url }] }),
        })
        await bank.called
        const seen = () => toTree(receiver.spansOf(traceId))
        await expect.poll(seen, { timeout: SEEN_MS_MAX }).toEqual(['counterstep: accept saga'])
        await first.kill()
        bank.remember()
        await until('the saga has ended on the other node', SEEN_MS_MAX, async () => {
          const answer = await view(second.url, traceId)
          return answer.type === 'view' && answer.view.status === 'succeeded' && answer.view.epoch === 2
        })
        await second.stop()
        await expect
          .poll(seen, { timeout: SEEN_MS_MAX })
          .toEqual([
            'counterstep: accept saga',
            '  counterstep: run saga',
            '    counterstep: claim',
            '    counterstep: action debit',
            '    counterstep: save',
          ])
        bank.close()
        await receiver.stop()
        await store.drop()
      },
      INSTALL_TIMEOUT_MS,
    )
  })
}
