import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'

const FOLLOW_PARENT = new URL('../../../scripts/follow-parent.mjs', import.meta.url).href
/** The event of the closed channel comes before the next module is loaded. */
const SLOW_START =
  "data:text/javascript,await new Promise((go) => process.connected ? process.once('disconnect', go) : go())"

it('A child whose parent has gone before it could listen for that ends at once', async () => {
  const imports = ['--import', SLOW_START, '--import', FOLLOW_PARENT]
  const child = spawn(process.execPath, [...imports, '-e', 'setInterval(() => {}, 1_000)'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit', { signal: AbortSignal.timeout(20_000) })
  try {
    child.disconnect()
    expect(await ended).toEqual([143, null])
  } finally {
    child.kill('SIGKILL')
  }
})
