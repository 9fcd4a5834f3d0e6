import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, saga } from '@counterstep/sdk'
import { freePort } from '@counterstep/test-servers'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { createProgramFolder, Guide } from '@counterstep/test-servers/guide'
import { expect, it, onTestFinished } from 'vitest'
import { startChild } from './child-process.ts'

const TIMEOUT_MS = 60_000

/** Writes the service, which says on one line where it listens, as `startChild` expects. */
function writeService(folder: string, port: number): string {
  const code = new Guide('signed-calls').readBlock('ts signed-bank.ts')
  const own = code.replaceAll('3001', String(port)).replace("'bank.db'", "':memory:'")
  const said = `console.log('{"url":"http://127.0.0.1:${port}"}')\n`
  const path = join(folder, 'signed-bank.ts')
  writeFileSync(path, own + said)
  return path
}

it('S18: The ten lines of the guide make a service that takes signed calls and no others', {
  timeout: TIMEOUT_MS,
}, async () => {
  const folder = createProgramFolder()
  const keyFile = join(folder, 'signing-key.pem')
  const made = spawnSync(process.execPath, [COUNTERSTEP_PROGRAM, 'signing-key', 'create', '--out', keyFile], {
    encoding: 'utf8',
  })
  expect([made.status, made.stdout.split('\n')]).toEqual([0, [expect.stringContaining('Ed25519'), '']])
  const bank = await startChild(writeService(folder, await freePort()), [], { COUNTERSTEP_KEYS: made.stdout })
  onTestFinished(() => bank.kill('SIGTERM'))
  const flags = ['--port', '0', '--ready-json', '--data', join(folder, 'data'), '--signing-key-file', keyFile]
  const server = await startChild(COUNTERSTEP_PROGRAM, ['serve', ...flags])
  onTestFinished(() => server.kill('SIGTERM'))

  const credit = `${bank.url}/credit`
  const transfer = saga().branch('credit', { action: credit, compensation: credit, payload: { cents: 1 } })
  const { status } = await createClient({ url: server.url }).submit(transfer, { waitMs: 20_000 })
  expect(status).toBe('succeeded')
  const forged = await fetch(`${credit}?gid=g&trans_type=saga&branch_id=01&op=action`, { method: 'POST' })
  expect([forged.status, await forged.text()]).toEqual([401, expect.stringContaining('BRANCH_UNSIGNED')])
})
