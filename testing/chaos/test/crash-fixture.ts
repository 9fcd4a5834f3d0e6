import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BankLedger } from '../src/crash-points/bank-ledger.ts'
import { type BankProcess, startBank } from '../src/crash-points/bank-process.ts'
import { type ChainParts, CrashChain } from '../src/crash-points/crash-chain.ts'
import { type FlakyServer, startFlakyServer } from '../src/crash-points/flaky-server.ts'
import { OWN_BRANCHES } from '../src/crash-points/own-branches.ts'
import { ACCOUNTS, type Participants } from '../src/crash-points/scenario.ts'
import { startWorkflowServer, type WorkflowServer } from '../src/crash-points/workflow-handler.ts'
import { type BundledNode, bundleNode } from './bundle-node.ts'

const BANK_FILE = 'bank.db'

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
  readonly #file: string
  readonly #servers: Servers
  readonly #node: BundledNode

  private constructor(folder: string, servers: Servers, node: BundledNode) {
    this.folder = folder
    this.program = node.program
    this.#file = join(folder, BANK_FILE)
    this.ledger = new BankLedger(this.#file)
    this.#servers = servers
    this.#node = node
  }

  static async start(): Promise<CrashFixture> {
    const folder = mkdtempSync(join(tmpdir(), 'counterstep-crash-points-'))
    const node = await bundleNode()
    const file = join(folder, BANK_FILE)
    const bank = await startBank(file, ACCOUNTS)
    const handler = await startWorkflowServer(file)
    const flaky = await startFlakyServer(bank.url, handler.url)
    return new CrashFixture(folder, { bank, handler, flaky }, node)
  }

  makeChain(name: string, more: Partial<Pick<ChainParts, 'mutant' | 'program'>> = {}): CrashChain {
    const { bank, handler } = this.#servers
    return this.#make(name, { bank: bank.url, handler: handler.url }, more)
  }

  /** The bank and the handler of its workflows are functions of the node, so they die with it. */
  makeOwnChain(name: string): CrashChain {
    return this.#make(name, { bank: OWN_BRANCHES, handler: OWN_BRANCHES }, { ownBank: this.#file })
  }

  #make(name: string, called: Pick<Participants, 'bank' | 'handler'>, more: Partial<ChainParts>): CrashChain {
    const { bank, flaky } = this.#servers
    return new CrashChain({
      name,
      program: this.program,
      participants: { ...called, tries: bank.url, flaky: flaky.url, yes: `${flaky.url}/yes` },
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
