// Plays three orders of a shop whose process is killed in the second one, and tells what happens: see the README.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '@counterstep/sdk'
import { startPartners } from './partners.ts'
import { playOrders, print } from './play-orders.ts'
import { type Program, startProgram } from './start-program.ts'

// This is the command of the repository. Where the package is installed, use `npx counterstep serve`.
const COUNTERSTEP = new URL('../../../packages/cli/src/main.ts', import.meta.url)
const SHOP = new URL('shop.ts', import.meta.url)

type OnStop = (stop: () => Promise<void>) => void

/** Starts a Counterstep, the shop, and the bank and the carrier, and lets the orders be placed. */
async function run(folder: string, onStop: OnStop): Promise<void> {
  const partners = await startPartners(join(folder, 'partners.db'), print)
  onStop(partners.stop)
  const startShop = async (port: string, ...fatalSku: readonly string[]): Promise<Program> => {
    const args = [join(folder, 'shop.db'), port, partners.url, ...fatalSku]
    const shop = await startProgram(SHOP, args, (line) => print('shop', line))
    onStop(shop.stop)
    return shop
  }
  const data = join(folder, 'counterstep')
  const serve = ['serve', '--port', '0', '--data', data, '--accept-new-kinds', '--ready-json']
  const counterstep = await startProgram(COUNTERSTEP, [...serve, '--log-level', 'error'], (line) =>
    console.error(line),
  )
  onStop(counterstep.stop)
  await playOrders({ client: createClient({ url: counterstep.url }), folder, startShop })
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { keep: { type: 'string' } } })
  if (values.keep !== undefined) mkdirSync(values.keep)
  const folder = values.keep ?? mkdtempSync(join(tmpdir(), 'counterstep-order-'))
  const stops: (() => Promise<void>)[] = []
  try {
    await Promise.race([run(folder, (stop) => stops.unshift(stop)), stopAsked()])
    return 0
  } catch (error: unknown) {
    console.error(error instanceof Error ? error.message : error)
    return 1
  } finally {
    for (const stop of stops) await stop()
    if (values.keep === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

function stopAsked(): Promise<never> {
  return new Promise((_, reject) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.once(name, () => reject(new Error(`stopped by ${name}`)))
    }
  })
}

process.exit(await main())
