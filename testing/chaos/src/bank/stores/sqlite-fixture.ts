import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@counterstep/test-servers'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { readSqliteBooks } from '../books/read-sqlite-books.ts'
import { OwnProcess } from '../processes/own-process.ts'
import { keepSqliteJournal, readSqliteStore } from '../rows/sqlite-books.ts'
import type { StoreFixture } from './store-fixture.ts'

/** The embedded store: one server, no network to it. */
export async function openSqliteFixture(folder: string, logFolder: string): Promise<StoreFixture> {
  const path = join(folder, 'store', 'counterstep.db')
  await mkdir(join(folder, 'store'))
  const flags = { store: `sqlite:${path}` }
  await makeFile(flags.store, logFolder)
  keepSqliteJournal(path)
  const bankFile = (index: number) => join(folder, `bank-${index}.db`)
  return {
    servers: 1,
    edge: async () => ({ flags }),
    bankDatabase: async (index) => bankFile(index),
    readStore: async () => readSqliteStore(path),
    readBank: async (index) => readSqliteBooks(bankFile(index)),
    stop: async () => undefined,
  }
}

/** The server itself makes its tables. */
async function makeFile(store: string, logFolder: string): Promise<void> {
  const port = await freePort()
  const maker = await OwnProcess.start({
    name: 'the server that makes the file',
    args: [COUNTERSTEP_PROGRAM, 'serve', '--port', String(port), '--dtm-port', 'off', '--store', store],
    log: join(logFolder, 'server-making-tables.log'),
    readyUrl: `http://127.0.0.1:${port}/health/ready`,
  })
  await maker.stop()
}
