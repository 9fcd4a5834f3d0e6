import { setTimeout as sleep } from 'node:timers/promises'
import { renderTimeline } from '@counterstep/example-bank'
import type { Client, Status } from '@counterstep/sdk'
import { describeTransfer } from './report.ts'
import { approval, type Transfer, toApprovedSaga, toSaga } from './transfer.ts'

const TRANSFER_MS_MAX = 20_000
const POLL_MS = 50

export interface Scene {
  readonly title: string
  readonly transfer: Transfer
  readonly ends: Status
}

/** Submits it, shows what was called when, and answers what was not as it should be. */
export async function playTransfer(
  client: Client,
  { title, transfer, ends }: Scene,
  print: (line: string) => void,
): Promise<string[]> {
  print(`\n${title}: ${describeTransfer(transfer)}`)
  const { gid } = await client.submit(toSaga(transfer))
  return await showEnd(client, gid, ends, print)
}

/** Submits a transfer that waits for an approval, gives the approval, and returns what was not as it should be. */
export async function playApprovedTransfer(
  client: Client,
  title: string,
  transfer: Transfer,
  print: (line: string) => void,
): Promise<string[]> {
  print(`\n${title}: ${describeTransfer(transfer)}`)
  const { gid } = await client.submit(toApprovedSaga(transfer))
  if (!(await waitsForApproval(client, gid))) return [`${gid} should wait for an approval, and does not`]
  print(`it waits; the demo approves it, as this would: counterstep signal ${gid} ${approval.name}`)
  await client.signal(gid, approval, { by: 'demo' })
  return await showEnd(client, gid, 'succeeded', print)
}

async function showEnd(
  client: Client,
  gid: string,
  ends: Status,
  print: (line: string) => void,
): Promise<string[]> {
  const view = await client.wait(gid, { timeoutMs: TRANSFER_MS_MAX })
  print(`gid ${view.gid}\n`)
  print(renderTimeline(view).replace(/^/gm, '  '))
  return view.status === ends ? [] : [`${view.gid} should have ${ends}, and its status is ${view.status}`]
}

async function waitsForApproval(client: Client, gid: string): Promise<boolean> {
  const endAt = performance.now() + TRANSFER_MS_MAX
  while (performance.now() < endAt) {
    const { branches, status } = await client.get(gid)
    if (branches.some(({ ops }) => ops.some(({ state }) => state === 'open'))) return true
    if (status !== 'submitted') return false
    await sleep(POLL_MS)
  }
  return false
}
