import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@counterstep/sdk'
import { expect, it, onTestFinished } from 'vitest'
import { creditService } from '../../src/credit-service.ts'
import { debitService } from '../../src/debit-service.ts'
import { startCounterstep } from '../../src/demo/start-counterstep.ts'
import { submitTransfer, transferSaga } from '../../src/transfer.ts'
import { audit } from './audit.ts'
import { describeOnBoth, openPools, type Pools } from './both-servers.ts'
import { startUnreliableNetwork, type UnreliableNetwork } from './unreliable-network.ts'

const TRANSFERS = 200
const ACCOUNTS = 10
const OPENING_CENTS = 1_000_000
const LIMIT_MS = 120_000

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)
const toAmount = (at: number) => at + 1
const isRefused = (at: number) => at % 10 === 9

/** Opens ten accounts at each service, and a frozen one at the second. */
async function openAccounts({ debitPool, creditPool }: Pools): Promise<void> {
  for (const at of numbers(ACCOUNTS)) {
    await debitPool.query('INSERT INTO account VALUES (?, ?)', [`from-${at}`, OPENING_CENTS])
    await creditPool.query('INSERT INTO account VALUES ($1, 0)', [`to-${at}`])
  }
  await creditPool.query("INSERT INTO account VALUES ('frozen', 0, true)")
}

/** Starts both services, each behind a network that doubles calls and loses answers. */
async function startServices({ debitPool, creditPool }: Pools) {
  const errors: unknown[] = []
  const debits = createServer(debitService(debitPool, (error) => errors.push(error)))
  debits.listen(0, '127.0.0.1')
  await once(debits, 'listening')
  onTestFinished(() => {
    debits.close()
    debits.closeAllConnections()
  })
  const credits = creditService(creditPool)
  onTestFinished(() => credits.close())
  const creditUrl = await credits.listen({ host: '127.0.0.1', port: 0 })
  const { port } = debits.address() as AddressInfo
  return {
    errors,
    debitNetwork: await openNetwork(`http://127.0.0.1:${port}`),
    creditNetwork: await openNetwork(creditUrl),
  }
}

async function openNetwork(serviceUrl: string): Promise<UnreliableNetwork> {
  const network = await startUnreliableNetwork(serviceUrl)
  onTestFinished(network.close)
  return network
}

/** Returns the entries that must be booked for one transfer at the first service and at the second. */
function toEntries(at: number): { readonly debits: number[]; readonly credits: number[] | undefined } {
  const cents = toAmount(at)
  return isRefused(at)
    ? { debits: [-cents, cents], credits: undefined }
    : { debits: [-cents], credits: [cents] }
}

describeOnBoth('transfers between the two services', (open) => {
  it(
    'Each of 200 transfers at once is done whole or undone whole, though calls are doubled, answers lost and a tenth refused',
    async () => {
      const pools = await openPools(await open())
      await openAccounts(pools)
      const { errors, debitNetwork, creditNetwork } = await startServices(pools)
      const counterstep = await startCounterstep()
      onTestFinished(counterstep.stop)
      const client = createClient({ url: counterstep.url })
      const urls = { debitUrl: debitNetwork.url, creditUrl: creditNetwork.url }
      const sagas = numbers(TRANSFERS).map((at) => {
        const to = isRefused(at) ? 'frozen' : `to-${at % 7}`
        return transferSaga({ from: `from-${at % ACCOUNTS}`, to, cents: toAmount(at) }, urls)
      })

      // Each is submitted twice, as a client does that has lost the answer.
      const views = await Promise.all([...sagas, ...sagas].map((each) => submitTransfer(client, each)))

      const expected = numbers(TRANSFERS).map((at) => (isRefused(at) ? 'failed' : 'succeeded'))
      expect(views.map(({ status }) => status)).toEqual([...expected, ...expected])
      for (const { counts } of [debitNetwork, creditNetwork]) {
        expect(counts.doubled).toBeGreaterThan(50)
        expect(counts.lost).toBeGreaterThan(20)
      }
      const found = await audit(pools)
      expect(found.debits).toEqual(new Map(sagas.map(({ gid }, at) => [gid, toEntries(at).debits])))
      expect(found.credits).toEqual(
        new Map(sagas.flatMap(({ gid }, at) => toPairs(gid, toEntries(at).credits))),
      )
      expect(found.sum).toBe(ACCOUNTS * OPENING_CENTS)
      for (const [account, cents] of found.balances) {
        const opening = account.startsWith('from-') ? OPENING_CENTS : 0
        expect([account, cents]).toEqual([account, opening + (found.changes.get(account) ?? 0)])
      }

      // Every call comes once more, long after the end; actions of what was undone are among them.
      const late = [...(await debitNetwork.replay()), ...(await creditNetwork.replay())]
      expect(new Set(late.map(({ statusCode }) => statusCode))).toEqual(new Set([200, 409]))
      expect(late.filter(({ body }) => body.includes('ALREADY_COMPENSATED')).length).toBeGreaterThanOrEqual(
        20,
      )
      expect(await audit(pools)).toEqual(found)
      expect(errors).toEqual([])
    },
    LIMIT_MS,
  )
})

function toPairs(gid: string, entries: number[] | undefined): [string, number[]][] {
  return entries === undefined ? [] : [[gid, entries]]
}
