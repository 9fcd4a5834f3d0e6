import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { SecretWatch } from '@counterstep/test-servers/secret-watch'
import type { ChaosSettings } from './chaos-settings.ts'
import type { BankBooks } from './evidence.ts'
import { BANKS } from './nemesis/nemesis-schedule.ts'
import type { CallFates } from './network/call-fate.ts'
import { writeKeyFile } from './processes/api-key.ts'
import { type BankNode, startBankNode } from './processes/bank-node.ts'
import { type ServerNode, startServerNode } from './processes/server-node.ts'
import type { ReadServer } from './processes/server-reader.ts'
import type { StoreBooks } from './rows/store-books.ts'
import { openStoreFixture } from './stores/open-store-fixture.ts'
import type { StoreFixture } from './stores/store-fixture.ts'

export interface BankFixtureSpec {
  readonly settings: ChaosSettings
  readonly folder: string
  readonly fates: CallFates
  /** Watches all that its servers answer. */
  readonly watch: SecretWatch
}

/** Every process of a run, and the network between them. */
export class BankFixture {
  readonly store: StoreFixture
  readonly servers: readonly ServerNode[]
  readonly banks: readonly BankNode[]

  private constructor(store: StoreFixture, servers: readonly ServerNode[], banks: readonly BankNode[]) {
    this.store = store
    this.servers = servers
    this.banks = banks
  }

  static async start({ settings, folder, fates, watch }: BankFixtureSpec): Promise<BankFixture> {
    const logFolder = join(folder, 'logs')
    await mkdir(logFolder)
    const store = await openStoreFixture(settings.store, folder, logFolder)
    const { seed, guard, inApps } = settings
    const keysFile = await writeKeyFile(folder)
    const banks = await Promise.all(
      indexes(BANKS).map(async (index) =>
        startBankNode({ index, logFolder, guard, seed, fates, database: await store.bankDatabase(index) }),
      ),
    )
    const ownBank = inApps ? { ownBankUrl: banks[0]?.url ?? '' } : {}
    const servers = await Promise.all(
      indexes(store.servers).map(async (index) =>
        startServerNode({ index, logFolder, keysFile, watch, store: await store.edge(index), ...ownBank }),
      ),
    )
    return new BankFixture(store, servers, banks)
  }

  /** Reads through any server, since they share the store. */
  get readAny(): ReadServer {
    const [server] = this.servers
    if (server === undefined) throw new Error('a run has a server')
    return server.read
  }

  /** Throws when a process has ended that the run did not kill. */
  assertAlive(): void {
    const dead = [...this.servers, ...this.banks].filter(({ process }) => !process.isRunning)
    if (dead.length === 0) return
    throw new Error(
      `${dead.map(({ process }) => process.name).join(', ')} ended by themselves; see their logs`,
    )
  }

  /** Everything but the databases; what these hold is read after it. */
  async stopProcesses(): Promise<void> {
    await Promise.all(this.servers.map(({ process }) => process.stop()))
    await Promise.all(this.banks.map(({ process }) => process.stop()))
  }

  readStore(): Promise<StoreBooks> {
    return this.store.readStore()
  }

  readBanks(): Promise<readonly BankBooks[]> {
    return Promise.all(indexes(BANKS).map((index) => this.store.readBank(index)))
  }

  async close(): Promise<void> {
    await Promise.all([
      ...this.servers.flatMap(({ process, clientProxy, storeProxy }) => [
        process.isRunning ? process.kill() : undefined,
        clientProxy.close(),
        storeProxy?.close(),
      ]),
      ...this.banks.flatMap(({ process, proxy, repeater }) => [
        process.isRunning ? process.kill() : undefined,
        proxy.close(),
        repeater.close(),
      ]),
    ])
    await this.store.stop()
  }
}

function indexes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index)
}
