import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type SqlServer, startMariadb } from '@counterstep/test-servers'
import { createConnection } from 'mysql2/promise'
import { seededFates } from '../bank/network/call-fate.ts'
import { SeededRandom } from '../bank/seeded-random.ts'
import { openStoreFixture } from '../bank/stores/open-store-fixture.ts'
import type { StoreFixture } from '../bank/stores/store-fixture.ts'
import type { DtmSettings } from './dtm-result.ts'
import { type DtmServer, startDtmServer } from './dtm-server.ts'
import { type Participants, startParticipants } from './participants.ts'
import { createTables } from './service/tables.ts'

/** More of them would take a core away from those that work. */
const SERVERS_MAX = 2
const DATABASE = 'participants'

/** Every process of a run, and the network between them. */
export class DtmFixture {
  readonly servers: readonly DtmServer[]
  readonly participants: Participants
  /** The participants' database. */
  readonly database: string
  readonly #store: StoreFixture
  readonly #mariadb: SqlServer

  private constructor(given: {
    readonly servers: readonly DtmServer[]
    readonly participants: Participants
    readonly database: string
    readonly store: StoreFixture
    readonly mariadb: SqlServer
  }) {
    this.servers = given.servers
    this.participants = given.participants
    this.database = given.database
    this.#store = given.store
    this.#mariadb = given.mariadb
  }

  static async start(settings: DtmSettings, folder: string, hasHealed: () => boolean): Promise<DtmFixture> {
    const { seed, fault } = settings
    const logFolder = join(folder, 'logs')
    await mkdir(logFolder)
    const [store, mariadb] = await Promise.all([
      openStoreFixture(settings.store, folder, logFolder),
      startMariadb(),
    ])
    const database = await createDatabase(mariadb)
    const random = new SeededRandom(seed, 'lost-answers')
    const servers = await Promise.all(
      Array.from({ length: Math.min(store.servers, SERVERS_MAX) }, async (_, index) =>
        startDtmServer({ index, logFolder, random, hasHealed, store: await store.edge(index) }),
      ),
    )
    const fates = seededFates(new SeededRandom(seed, 'network'), () => false, hasHealed)
    const urls = servers.map(({ url }) => url)
    const participants = await startParticipants({ logFolder, database, servers: urls, fates, fault })
    return new DtmFixture({ servers, participants, database, store, mariadb })
  }

  /** Ends every process but the databases. */
  async stopProcesses(): Promise<void> {
    await this.participants.process.stop()
    await Promise.all(this.servers.map(({ process }) => process.stop()))
  }

  async close(): Promise<void> {
    const { process, repeater } = this.participants
    await Promise.all([
      ...this.servers.flatMap((server) => [
        server.process.isRunning ? server.process.kill() : undefined,
        server.proxy.close(),
      ]),
      process.isRunning ? process.kill() : undefined,
      repeater.close(),
    ])
    await Promise.all([this.#store.stop(), this.#mariadb.stop()])
  }
}

async function createDatabase({ url }: SqlServer): Promise<string> {
  const connection = await createConnection(url)
  try {
    await connection.query(`CREATE DATABASE ${DATABASE}`)
    await connection.query(`USE ${DATABASE}`)
    await createTables(connection)
    return `${url}/${DATABASE}`
  } finally {
    await connection.end()
  }
}
