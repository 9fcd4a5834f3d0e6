import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BranchService, startBranchService, submit } from '../../../packages/cli/test/branch-service.ts'
import { ServeProcess } from '../../../packages/cli/test/serve-process.ts'

const STRICT = { NODE_OPTIONS: '--disable-proto=throw' }

let folder = ''
let branch: BranchService
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-no-proto-'))
  branch = await startBranchService()
})
afterAll(async () => {
  branch.close()
  await rm(folder, { recursive: true, force: true })
})

it('S25: A server runs sagas on both HTTP APIs where touching __proto__ throws', {
  timeout: 60_000,
}, async () => {
  const place = ['--ready-json', '--port', '0', '--dtm-port', '0', '--data', folder]
  const process = new ServeProcess(['serve', ...place], STRICT)
  const url = await process.url()
  const { dtmUrl } = JSON.parse(process.stdout.find((line) => line.startsWith('{"url":')) ?? '{}') as {
    readonly dtmUrl: string
  }
  const native = await submit(url, { branches: [{ action: branch.url }, { action: branch.url }] }, 10)
  expect(await native.json()).toMatchObject({ status: 'succeeded' })
  const steps = [{ action: branch.url, compensate: '' }]
  const dtm = await fetch(`${dtmUrl}/api/dtmsvr/submit`, {
    method: 'POST',
    body: JSON.stringify({ gid: 'strict', trans_type: 'saga', steps, payloads: ['{}'], wait_result: true }),
  })
  expect(await dtm.text()).toBe('{"dtm_result":"SUCCESS"}')
  for (const page of ['/metrics', '/openapi.json', '/health/ready', '/v1/transactions?limit=5']) {
    expect([page, (await fetch(url + page)).status]).toEqual([page, 200])
  }
  const poisoned = JSON.parse('{"__proto__":{"a":1}}')
  expect((await submit(url, poisoned)).status).toBe(422)
  process.signal('SIGTERM')
  expect((await process.ended()).code).toBe(0)
  expect(process.stderr).toEqual([])
})

it('S25: Touching __proto__ throws in a process with that option', () => {
  const touch = ['-e', 'try { ({}).__proto__ } catch (error) { process.stdout.write(error.code) }']
  expect(
    execFileSync(process.execPath, touch, { env: { ...process.env, ...STRICT }, encoding: 'utf8' }),
  ).toBe('ERR_PROTO_ACCESS')
})
