import { parentPort, workerData } from 'node:worker_threads'
import type { Database, DriverModule } from './driver.ts'
import type { ReaderSettings, ReadReply, ReadRequest } from './messages.ts'
import { ReadGate } from './read-gate.ts'
import { Reads } from './reads.ts'

// This thread reads the file over a connection of its own that can change nothing, so a long scan delays no write.
const CACHE_KIBIBYTES = 16_384

const port = parentPort
if (port === null) throw new Error('sqlite-reader.ts is a worker')
const { path, driverUrl, gate: memory } = workerData as ReaderSettings
const gate = new ReadGate(memory)
const { openDatabase } = (await import(driverUrl)) as DriverModule
let opened: { readonly database: Database; readonly reads: Reads } | undefined

port.on('message', (request: ReadRequest) => {
  if (request.type === 'read') {
    reply(read(request))
    return
  }
  opened?.database.close()
  port.close()
})

function read({ id, read: asked }: ReadRequest & { readonly type: 'read' }): ReadReply {
  try {
    gate.waitUntilOpen()
    opened ??= open()
    return { type: 'read', id, rows: opened.reads.read(asked) }
  } catch (error: unknown) {
    return { type: 'notRead', id, message: error instanceof Error ? error.message : String(error) }
  }
}

function open() {
  const database = openDatabase(path, 'read')
  database.exec('PRAGMA query_only = ON')
  database.exec(`PRAGMA cache_size = -${CACHE_KIBIBYTES}`)
  return { database, reads: new Reads(database) }
}

function reply(message: ReadReply): void {
  port?.postMessage(message)
}
