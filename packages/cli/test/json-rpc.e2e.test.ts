import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newTransactionRow, type Submission } from '@counterstep/core'
import { DEFAULT_SETTINGS, nodeIds } from '@counterstep/engine'
import type { BranchId, Gid, TransactionView } from '@counterstep/protocol'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { ServeProcess } from './serve-process.ts'

const GID = 'stored-before' as Gid

/** Builds a saga of DTM's clients with `protocol: "json-rpc"`, as a version stored it that did not refuse it. */
function oldSubmission(action: string): Submission {
  const { retry, branchTimeoutMs: timeoutMs, checkpointMs } = DEFAULT_SETTINGS
  const branch = { id: '01' as BranchId, action, body: '{}', contentType: 'application/json', headers: {} }
  const note = 'dtm {"t":"ticket","r":"request","o":"{}","p":"json-rpc","i":10,"m":8000}'
  return {
    gid: GID,
    ack: 'durable',
    content: 'dtm ticket request',
    definition: {
      kind: 'saga',
      retry,
      timeoutMs,
      checkpointMs,
      wordsCount: true,
      note,
      branches: [{ ...branch, compensation: '', after: [] }],
    },
  }
}

async function store(folder: string, submission: Submission): Promise<void> {
  const opened = await openSqliteStore({ path: join(folder, 'counterstep.db') })
  const ids = nodeIds()
  const settings = { ...DEFAULT_SETTINGS, releaseKeepsSentList: true }
  const names = { gid: GID, digest: 'd'.repeat(64), token: ids.token(), writeId: ids.writeId() }
  await opened.create(newTransactionRow(submission, names, settings))
  await opened.close()
}

it('A stored transaction that is to be called by JSON-RPC is not called, and its view says why', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'json-rpc-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  let calls = 0
  const branch = createServer((_request, response) => {
    calls++
    response.end('{"jsonrpc":"2.0","id":"1","error":{"code":-32000,"message":"no funds"}}')
  })
  branch.listen(0, '127.0.0.1')
  await once(branch, 'listening')
  onTestFinished(() => void branch.close())
  await store(
    folder,
    oldSubmission(`http://127.0.0.1:${(branch.address() as AddressInfo).port}/?method=debit`),
  )
  const { process, url } = await ServeProcess.listening(folder)
  const read = async () => (await (await fetch(`${url}/v1/transactions/${GID}`)).json()) as TransactionView
  await expect
    .poll(async () => (await read()).branches[0]?.ops[0]?.error, { timeout: 20_000 })
    .toBe('json-rpc')
  expect((await read()).status).toBe('submitted')
  expect(calls).toBe(0)
  process.signal('SIGTERM')
  expect((await process.ended()).code).toBe(0)
})
