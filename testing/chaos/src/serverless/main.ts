import { parseArgs } from 'node:util'
import { installRuntimeClient } from '@counterstep/lambda-emulator'
import { progressOn } from '../bank/report/progress.ts'
import { formatLambdaResult } from './print-lambda-result.ts'
import { runLambda } from './run-lambda.ts'

const USAGE = 'npm run chaos:lambda -- [--store mysql|redis] [--sagas N] [--burst N] [--seed N]'

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    store: { type: 'string', default: 'mysql' },
    sagas: { type: 'string', default: '1000' },
    burst: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now()) },
  },
})
if (values.help) {
  process.stdout.write(`${USAGE}\n`)
  process.exit(0)
}
if (values.store !== 'mysql' && values.store !== 'redis') throw new Error('--store is mysql or redis')
const settings = {
  store: values.store,
  sagas: Number(values.sagas),
  burst: Number(values.burst),
  seed: Number(values.seed),
} as const
const { result, keptFolder } = await runLambda(
  await installRuntimeClient(),
  settings,
  progressOn(process.stderr),
)
process.stdout.write(`${formatLambdaResult(result)}\n`)
if (keptFolder !== undefined) process.stdout.write(`logs and files are kept in ${keptFolder}\n`)
process.exit(keptFolder === undefined ? 0 : 1)
