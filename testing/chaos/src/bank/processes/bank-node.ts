import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import { BranchRepeater, type CallFates } from '../network/branch-repeater.ts'
import type { Death, DeathOrder } from '../service/aimed-death.ts'
import type { Guard } from '../service/bank-database.ts'
import { OwnProcess } from './own-process.ts'

const ORDER_MS_MAX = 10_000
const BANK = join(import.meta.dirname, '../service/main.ts')

export interface BankNodeSpec {
  readonly index: number
  readonly logFolder: string
  /** A file, mysql://… or postgres://… */
  readonly database: string
  readonly guard: Guard
  readonly seed: number
  readonly fates: CallFates
}

/** A bank, and the network before it: a TCP proxy, then one that repeats whole requests. */
export interface BankNode {
  readonly process: OwnProcess
  /** The URL that sagas get. */
  readonly url: string
  readonly proxy: TcpProxy
  readonly repeater: BranchRepeater
  /** Tells the process where to die, past the network. It forgets that when it is killed. */
  orderDeath(order: DeathOrder): Promise<void>
  /** The deaths that it has died so, of all its lives. */
  readDeaths(): Promise<readonly Death[]>
}

export async function startBankNode(spec: BankNodeSpec): Promise<BankNode> {
  const { index, logFolder, database, guard, seed, fates } = spec
  const deaths = join(logFolder, `bank-${index}-deaths.log`)
  const port = await freePort()
  const directUrl = `http://127.0.0.1:${port}`
  const options = { port, database, guard, seed: seed + index, deaths }
  const process = await OwnProcess.start({
    name: `bank-${index}`,
    args: [BANK, ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])],
    log: join(logFolder, `bank-${index}.log`),
    readyUrl: `${directUrl}/live`,
  })
  const repeater = await BranchRepeater.start(directUrl, fates)
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: repeater.port })
  return {
    process,
    url: `http://127.0.0.1:${proxy.port}`,
    proxy,
    repeater,
    async orderDeath(order) {
      const response = await fetch(`${directUrl}/deaths`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(order),
        signal: AbortSignal.timeout(ORDER_MS_MAX),
      })
      if (!response.ok) throw new Error(`bank-${index} answers an order with ${response.status}`)
    },
    async readDeaths() {
      const lines = (await readFile(deaths, 'utf8')).trimEnd().split('\n')
      return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Death]))
    },
  }
}
