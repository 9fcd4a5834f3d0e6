import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BankLedger } from '../src/crash-points/bank-ledger.ts'
import { type BankProcess, startBank } from '../src/crash-points/bank-process.ts'
import { type ChainParts, CrashChain } from '../src/crash-points/crash-chain.ts'
import { type FlakyServer, startFlakyServer } from '../src/crash-points/flaky-server.ts'
import { ACCOUNTS } from '../src/crash-points/scenario.ts'
import { startWorkflowServer, type WorkflowServer } from '../src/crash-points/workflow-handler.ts'
import { type BundledNode, bundleNode } from './bundle-node.ts'

interface Servers {
  readonly bank: BankProcess
  readonly handler: WorkflowServer
  readonly flaky: FlakyServer
}

/** Everything that a chain of kills needs beside the node that is killed. */
export class CrashFixture {
  readonly ledger: BankLedger
  readonly program: string
  readonly folder: string
  readonly #servers: Servers
  readonly #node: BundledNode

  private constructor(folder: string, servers: Servers, node: BundledNode) {
    this.folder = folder
    this.program = node.program
    this.ledger = new BankLedger(join(folder, 'bank.db'))
    this.#servers = servers
    this.#node = node
  }

  static async start(): Promise<CrashFixture> {
    const folder = mkdtempSync(join(tmpdir(), 'counterstep-crash-points-'))
    const node = await bundleNode()
    const file = join(folder, 'bank.db')
    const bank = await startBank(file, ACCOUNTS)
    const handler = await startWorkflowServer(file)
    const flaky = await startFlakyServer(bank.url, handler.url)
    return new CrashFixture(folder, { bank, handler, flaky }, node)
  }

  makeChain(name: string, more: Partial<Pick<ChainParts, 'mutant' | 'program'>> = {}): CrashChain {
    const { bank, handler, flaky } = this.#servers
    return new CrashChain({
      name,
      program: this.program,
      participants: { bank: bank.url, handler: handler.url, flaky: flaky.url, yes: `${flaky.url}/yes` },
      ledger: this.ledger,
      path: join(this.folder, name, 'store.db'),
      ...more,
    })
  }

  async close(): Promise<void> {
    this.ledger.close()
    await this.#servers.flaky.close()
    await this.#servers.handler.close()
    await this.#servers.bank.stop()
    this.#node.remove()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
