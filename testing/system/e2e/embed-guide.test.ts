import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@counterstep/test-servers'
import { expect, it, onTestFinished } from 'vitest'
import { REPOSITORY } from '../../repository/source-tree.ts'
import { startChild } from './child-process.ts'

const TIMEOUT_MS = 60_000

/**
 * Writes the app into the repository, where it finds the packages; it says on one line where it listens, as
 * `startChild` expects.
 */
function writeApp(folder: string, port: number): string {
  const guide = readFileSync(join(REPOSITORY, 'docs/guides/embed.md'), 'utf8')
  const code = /^```ts app\.ts\n([\s\S]*?)^```/m.exec(guide)?.[1] ?? ''
  const own = code.replaceAll('3000', String(port)).replace("'orders.db'", `'${join(folder, 'orders.db')}'`)
  const path = join(folder, 'app.ts')
  writeFileSync(path, `${own}console.log('{"url":"http://127.0.0.1:${port}"}')\n`)
  return path
}

it('The app of the guide runs sagas, and ends by itself when it is told to', {
  timeout: TIMEOUT_MS,
}, async () => {
  mkdirSync(join(REPOSITORY, '.tmp'), { recursive: true })
  const folder = mkdtempSync(join(REPOSITORY, '.tmp', 'embed-guide-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const app = await startChild(writeApp(folder, await freePort()), [])
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
