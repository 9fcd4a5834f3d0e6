import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ServeProcess } from './serve-process.ts'

const ACTION = 'http://127.0.0.1:9/x'

/** Resolves to the statuses by which a server answers ids that DTM's own barriers in services take for others. */
async function answers(...more: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const folder = await mkdtemp(join(tmpdir(), 'plain-ids-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { process } = await ServeProcess.listening(folder, '--dtm-port', '0', ...more)
  const ready = process.stdout.find((line) => line.startsWith('{"url":')) ?? '{}'
  const { url, dtmUrl } = JSON.parse(ready) as { readonly url: string; readonly dtmUrl: string }
  const post = async (target: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(target, { method: 'POST', headers, body: JSON.stringify(body) })).status
  }
  const native = (body: object) => post(`${url}/v1/transactions`, body)
  const dtm = (path: string, body: object) => post(`${dtmUrl}/api/dtmsvr/${path}`, body)
  const saga = { trans_type: 'saga', steps: [{ action: ACTION }], payloads: ['{}'] }
  const branch = { gid: 'trip', trans_type: 'tcc', data: '{}', confirm: ACTION, cancel: ACTION }
  const found = {
    nativeGid: await native({ gid: 'ORDER-1', branches: [{ action: ACTION }] }),
    nativeBranch: await native({ gid: 'pay', branches: [{ id: '1-01', action: ACTION }] }),
    nativePlain: await native({ gid: 'order-1', branches: [{ id: 'Debit', action: ACTION }] }),
    dtmGid: await dtm('submit', { gid: 'Order-2', ...saga }),
    dtmPlain: await dtm('submit', { gid: 'order-2', ...saga }),
    dtmTopic: await topic(dtmUrl, dtm),
    dtmTcc: await dtm('prepare', { gid: 'trip', trans_type: 'tcc' }),
    dtmBranch: await dtm('registerBranch', { ...branch, branch_id: '1-01' }),
    dtmPlainBranch: await dtm('registerBranch', { ...branch, branch_id: '01' }),
  }
  process.signal('SIGTERM')
  await process.ended()
  return found
}

/** Submits a message to a topic with two subscribers, whose branch ids the dialect makes. */
async function topic(dtmUrl: string, dtm: (path: string, body: object) => Promise<number>): Promise<number> {
  for (const path of ['a', 'b'])
    await fetch(`${dtmUrl}/api/dtmsvr/subscribe?topic=t&url=${encodeURIComponent(`${ACTION}/${path}`)}`)
  return dtm('submit', { gid: 'news', trans_type: 'msg', steps: [{ action: 'topic://t' }], payloads: ['{}'] })
}

it("S39: With --plain-ids both APIs refuse ids that DTM's barriers take for others, and without it they accept them", async () => {
  const taken = { nativePlain: 202, dtmPlain: 200, dtmTopic: 200, dtmTcc: 200, dtmPlainBranch: 200 }
  expect(await answers('--plain-ids')).toEqual({
    ...taken,
    nativeGid: 400,
    nativeBranch: 422,
    dtmGid: 500,
    dtmBranch: 500,
  })
  expect(await answers()).toEqual({
    ...taken,
    nativeGid: 202,
    nativeBranch: 202,
    dtmGid: 200,
    dtmBranch: 200,
  })
})
