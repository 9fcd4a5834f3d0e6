import { describeLambda } from '@counterstep/lambda-emulator/vitest'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { printedLambdaResult } from '../../src/serverless/print-lambda-result.ts'
import { runLambda } from '../../src/serverless/run-lambda.ts'

const SEED = 20_261_121
const SAGAS = 300
const BURST = 60
const RUN_MS_MAX = 600_000

describeOwn('elasticmq', 'api, worker and sweeper on one store', () => {
  describeLambda('frozen between events and killed in the middle', (client) => {
    it(
      `lose nothing and double nothing of ${SAGAS} sagas, ${BURST} of them at once (seed ${SEED})`,
      async () => {
        const settings = { store: 'redis', sagas: SAGAS, burst: BURST, seed: SEED } as const
        const { result, keptFolder } = await runLambda(client, settings, { show: ignore, clear: ignore })
        const printed = printedLambdaResult(result)
        process.stdout.write(`${printed}\n`)
        expect(result.violations, `${printed}\nlogs are kept in ${keptFolder}`).toEqual([])
        expect(result.accepted).toBeGreaterThan(SAGAS * 0.9)
        const { api, worker } = result.functions
        // A run in which nothing went wrong proves little.
        expect(api.timedOut).toBeGreaterThan(0)
        expect(worker.invocations).toBeGreaterThan(0)
        expect(result.throttled).toBeGreaterThan(0)
        expect(result.messages.lost + result.messages.doubled).toBeGreaterThan(0)
        expect(result.commitsLost).toBeGreaterThan(0)
      },
      RUN_MS_MAX,
    )
  })
})

function ignore(): void {
  // Nobody looks.
}
