import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@counterstep/test-servers'
import { createProgramFolder, Guide } from '@counterstep/test-servers/guide'
import { expect, it, onTestFinished } from 'vitest'
import { startChild } from './child-process.ts'

const TIMEOUT_MS = 60_000

/** Writes the app, which says on one line where it listens, as `startChild` expects. */
function writeApp(folder: string, port: number): string {
  const code = new Guide('embed').readBlock('ts app.ts')
  const own = code.replaceAll('3000', String(port)).replace("'orders.db'", `'${join(folder, 'orders.db')}'`)
  const path = join(folder, 'app.ts')
  writeFileSync(path, `${own}console.log('{"url":"http://127.0.0.1:${port}"}')\n`)
  return path
}

it('The app of the guide runs sagas, and ends by itself when it is told to', {
  timeout: TIMEOUT_MS,
}, async () => {
  const app = await startChild(writeApp(createProgramFolder(), await freePort()), [])
  onTestFinished(() => app.kill('SIGKILL'))
  const order = async (cents: number) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${app.url}/orders`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ cents }),
    })
    return answer.json()
  }
  expect(await order(500)).toMatchObject({ status: 'succeeded' })
  expect(await order(50_000)).toMatchObject({ status: 'failed' })
  await app.kill('SIGTERM')
  expect(await app.ended).toBe(0)
})
