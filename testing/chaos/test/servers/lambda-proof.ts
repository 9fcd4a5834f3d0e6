import { describeLambda } from '@counterstep/lambda-emulator/vitest'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import type { LambdaSettings } from '../../src/serverless/lambda-settings.ts'
import { formatLambdaResult } from '../../src/serverless/print-lambda-result.ts'
import { runLambda } from '../../src/serverless/run-lambda.ts'

const SEED = 20_261_121
/** This bound only tells stuck from slow. */
const RUN_MS_MAX = 600_000

/** Holds functions that are frozen between events and killed in the middle to the invariants of a run. */
export function proveFunctions(given: Pick<LambdaSettings, 'store' | 'sagas' | 'burst'>): void {
  const settings = { ...given, seed: SEED }
  const { store, sagas, burst } = settings
  describeOwn('elasticmq', `api, worker and sweeper on ${store}`, () => {
    describeLambda('frozen between events and killed in the middle', (client) => {
      it(
        `The functions lose nothing and double nothing of ${sagas} sagas, ${burst} of them at once (seed ${SEED})`,
        async () => {
          const { result, keptFolder } = await runLambda(client, settings, { show: ignore, clear: ignore })
          const printed = formatLambdaResult(result)
          process.stdout.write(`${printed}\n`)
          expect(result.violations, `${printed}\nlogs are kept in ${keptFolder}`).toEqual([])
          expect(result.accepted).toBeGreaterThan(sagas * 0.9)
          const { api, worker } = result.functions
          // A run in which nothing went wrong proves little.
          expect(api.timedOut).toBeGreaterThan(0)
          expect(worker.invocations).toBeGreaterThan(0)
          expect(result.throttled).toBeGreaterThan(0)
          expect(result.messages.lost).toBeGreaterThan(0)
          expect(result.messages.doubled).toBeGreaterThan(0)
          expect(result.commitsLost).toBeGreaterThan(0)
        },
        RUN_MS_MAX,
      )
    })
  })
}

function ignore(): void {
  // Nothing reads these.
}
