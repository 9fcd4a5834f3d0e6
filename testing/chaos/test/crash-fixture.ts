import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BankLedger } from '../src/crash-points/bank-ledger.ts'
import { type BankProcess, startBank } from '../src/crash-points/bank-process.ts'
import { type ChainParts, CrashChain } from '../src/crash-points/crash-chain.ts'
import { type FlakyServer, startFlakyServer } from '../src/crash-points/flaky-server.ts'
import { ACCOUNTS } from '../src/crash-points/scenario.ts'
import { type BundledNode, bundleNode } from './bundle-node.ts'

/** Everything that a chain of kills needs beside the node that is killed. */
export class CrashFixture {
  readonly ledger: BankLedger
  readonly program: string
  readonly folder: string
  readonly #bank: BankProcess
  readonly #flaky: FlakyServer
  readonly #node: BundledNode

  private constructor(folder: string, bank: BankProcess, flaky: FlakyServer, node: BundledNode) {
    this.folder = folder
    this.program = node.program
    this.ledger = new BankLedger(join(folder, 'bank.db'))
    this.#bank = bank
    this.#flaky = flaky
    this.#node = node
  }

  static async start(): Promise<CrashFixture> {
    const folder = mkdtempSync(join(tmpdir(), 'counterstep-crash-points-'))
    const node = await bundleNode()
    const bank = await startBank(join(folder, 'bank.db'), ACCOUNTS)
    return new CrashFixture(folder, bank, await startFlakyServer(bank.url), node)
  }

  makeChain(name: string, more: Partial<Pick<ChainParts, 'mutant' | 'program'>> = {}): CrashChain {
    return new CrashChain({
      name,
      program: this.program,
      participants: { bank: this.#bank.url, flaky: this.#flaky.url, yes: `${this.#flaky.url}/yes` },
      ledger: this.ledger,
      path: join(this.folder, name, 'store.db'),
      ...more,
    })
  }

  async close(): Promise<void> {
    this.ledger.close()
    await this.#flaky.close()
    await this.#bank.stop()
    this.#node.remove()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
