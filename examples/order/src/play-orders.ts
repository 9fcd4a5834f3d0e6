import { deepStrictEqual } from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, newGid, type Status } from '@counterstep/sdk'
import { approval, createOrder, type Order } from './order.ts'
import { money } from './partners.ts'
import type { Program } from './start-program.ts'

const ORDER_MS_MAX = 60_000
const POLL_MS = 50
const BUSY_MS_MAX = 5_000

export interface Stage {
  readonly client: Client
  /** The folder of the databases. */
  readonly folder: string
  /** Starts the shop at this port. It kills itself when it has reserved the article that is given. */
  startShop(port: string, fatalSku?: string): Promise<Program>
}

/** Plays three orders, and throws if something is not as it should be. */
export async function playOrders({ client, folder, startShop }: Stage): Promise<void> {
  const shop = await startShop('0', 'desk')
  const handler = `${shop.url}/workflows`

  tell('A cup for 9.00')
  const cup = await place(client, handler, { sku: 'cup', cents: 900 })
  await tellEnd(client, cup, 'succeeded')

  tell('A desk for 700.00. The shop is killed when it has reserved it, and is started again')
  const desk = await place(client, handler, { sku: 'desk', cents: 70_000 })
  if ((await shop.ended) !== 'SIGKILL') throw new Error('the shop should have been killed')
  print('shop', 'is dead, and has told no one that the desk is reserved')
  await startShop(new URL(handler).port)
  print('shop', 'is back')
  await answerApproval(client, desk, true)
  await tellEnd(client, desk, 'succeeded')

  tell('A sofa for 900.00, which is not approved: what was done is undone')
  const sofa = await place(client, handler, { sku: 'sofa', cents: 90_000 })
  await answerApproval(client, sofa, false)
  await tellEnd(client, sofa, 'failed')

  tellRows(folder)
}

async function place(client: Client, handler: string, input: Order): Promise<string> {
  const gid = newGid()
  // The client needs the name and the types of the workflow, and none of its database.
  const order = createOrder(new DatabaseSync(':memory:'), '')
  await client.start(order, { gid, handler, input })
  return gid
}

/** Answers as a person would do who is shown what waits for an approval. */
async function answerApproval(client: Client, gid: string, isApproved: boolean): Promise<void> {
  await waitUntilAsked(client, gid)
  print('kim', isApproved ? 'approves it' : 'does not approve it')
  await client.signal(gid, approval, { by: 'kim', isApproved })
}

async function waitUntilAsked(client: Client, gid: string): Promise<void> {
  const endAt = performance.now() + ORDER_MS_MAX
  while (performance.now() < endAt) {
    const { branches } = await client.get(gid)
    if (branches.some(({ ops }) => ops.some(({ state }) => state === 'open'))) return
    await sleep(POLL_MS)
  }
  throw new Error(`${gid} should wait for an approval`)
}

async function tellEnd(client: Client, gid: string, expected: Status): Promise<void> {
  const { status, abort } = await client.wait(gid, { timeoutMs: ORDER_MS_MAX })
  print('order', abort?.code === undefined ? status : `${status}: ${abort.code}`)
  if (status !== expected) throw new Error(`${gid} should have ${expected}`)
}

/** Each order that has succeeded has left one row of each kind, and the one that has failed none. */
function tellRows(folder: string): void {
  const read = (file: string, sql: string) => {
    const database = new DatabaseSync(join(folder, file), { readOnly: true, timeout: BUSY_MS_MAX })
    const values = database
      .prepare(sql)
      .all()
      .map(({ value }) => value)
    database.close()
    return values
  }
  const reserved = read('shop.db', 'SELECT sku AS value FROM reservation ORDER BY id')
  const mails = read('shop.db', 'SELECT text AS value FROM mail ORDER BY id')
  const payments = read('partners.db', 'SELECT cents AS value FROM payment ORDER BY id')
  deepStrictEqual(reserved, ['cup', 'desk'])
  deepStrictEqual(payments, [900, 70_000])
  deepStrictEqual(mails, ['your cup is parcel 1', 'your desk is parcel 2'])
  tell(`Reserved, paid and mailed once each: ${reserved.join(', ')}. The bank has ${money(900 + 70_000)}.`)
}

function tell(line: string): void {
  process.stdout.write(`\n${line}\n`)
}

export function print(who: string, text: string): void {
  process.stdout.write(`  ${who.padEnd(9)}${text}\n`)
}
