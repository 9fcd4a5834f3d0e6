import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TransactionView } from '@counterstep/protocol'
import { expect, it } from 'vitest'
import { startBranchService, submit } from './branch-service.ts'
import { ServeProcess } from './serve-process.ts'

it('counterstep dev prints one line, breaks a call on purpose, and leaves nothing behind', async () => {
  const process = new ServeProcess(['dev', '--port', '0'])
  await process.printed('Counterstep for development: ')
  expect(process.stdout).toEqual([
    expect.stringMatching(
      /^Counterstep for development: http:\/\/127\.0\.0\.1:\d+\/console\/ \(nothing is kept; Ctrl-C stops it\)$/,
    ),
  ])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(process.output)?.[0] ?? ''
  const branch = await startBranchService(0)
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ urlPrefix: branch.url, next: 1, how: 'answer-409' })
  const broken = await fetch(`${url}/v1/dev/break`, { method: 'POST', headers, body })
  expect(broken.status).toBe(200)
  const saga = { branches: [{ action: branch.url }] }
  const ends = async () => ((await (await submit(url, saga, 10)).json()) as TransactionView).status
  expect([await ends(), await ends()]).toEqual(['failed', 'succeeded'])
  branch.close()
  process.signal('SIGTERM')
  expect((await process.ended()).code).toBe(0)
})

it('A server says where its console is, and has no route of dev', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-dev-'))
  const { process, url } = await ServeProcess.listening(folder)
  await process.logged('listening')
  const listening = process.stdout.find((line) => line.includes('"msg":"listening"')) ?? '{}'
  expect(JSON.parse(listening)).toMatchObject({ url, consoleUrl: `${url}/console/` })
  expect((await fetch(`${url}/v1/dev`)).status).toBe(404)
  process.signal('SIGTERM')
  expect((await process.ended()).code).toBe(0)
  await rm(folder, { recursive: true, force: true })
})
