import { join } from 'node:path'
import { freePort, startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import { BranchRepeater, type CallFates } from '../network/branch-repeater.ts'
import type { Guard } from '../service/bank-database.ts'
import { OwnProcess } from './own-process.ts'

const BANK = join(import.meta.dirname, '../service/main.ts')

export interface BankNodeSpec {
  readonly index: number
  readonly logFolder: string
  /** A file, or mysql://… */
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
}

export async function startBankNode(spec: BankNodeSpec): Promise<BankNode> {
  const { index, logFolder, database, guard, seed, fates } = spec
  const port = await freePort()
  const directUrl = `http://127.0.0.1:${port}`
  const options = { port, database, guard, seed: seed + index }
  const process = await OwnProcess.start({
    name: `bank-${index}`,
    args: [BANK, ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])],
    log: join(logFolder, `bank-${index}.log`),
    readyUrl: `${directUrl}/live`,
  })
  const repeater = await BranchRepeater.start(directUrl, fates)
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: repeater.port })
  return { process, url: `http://127.0.0.1:${proxy.port}`, proxy, repeater }
}
