import { renderTimeline } from '@counterstep/example-bank'
import type { Client, Status } from '@counterstep/sdk'
import { describeTransfer } from './report.ts'
import { type Transfer, toSaga } from './transfer.ts'

const TRANSFER_MS_MAX = 20_000

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
  const view = await client.wait(gid, { timeoutMs: TRANSFER_MS_MAX })
  print(`gid ${view.gid}\n`)
  print(renderTimeline(view).replace(/^/gm, '  '))
  return view.status === ends ? [] : [`${view.gid} should have ${ends}, and its status is ${view.status}`]
}
