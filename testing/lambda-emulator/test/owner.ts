// This program starts a function, leaves one environment frozen and one busy, and prints their process ids. Then it waits
// until the test kills it.
import { once } from 'node:events'
import { installRuntimeClient, startFunction } from '../src/index.ts'

const [taskRoot = '', logFolder = ''] = process.argv.slice(2)
const tested = startFunction(await installRuntimeClient(), {
  name: 'owned',
  taskRoot,
  handler: 'steps.handler',
  variables: {},
  memoryMb: 256,
  timeoutMs: 600_000,
  initTimeoutMs: 60_000,
  reservedConcurrency: 2,
  logFolder,
  onLine: ({ text }) => {
    if (!text.endsWith('busy')) return
    process.stdout.write(`${JSON.stringify(tested.environments())}\n`)
  },
})
await Promise.all([tested.invoke({ waitMs: 200 }), tested.invoke({ waitMs: 200 })])
void tested.invoke({ print: 'busy', waitMs: 600_000 })
await once(process, 'never')
