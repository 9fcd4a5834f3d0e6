import { parentPort, workerData } from 'node:worker_threads'
import { BatchWriter } from './batch-writer.ts'
import { Checkpoints } from './checkpoints.ts'
import type { Database, DriverModule } from './driver.ts'
import { BrokenError, RefusedError } from './errors.ts'
import type { Reply, Request, WorkerSettings } from './messages.ts'
import { type OpenedFile, openFile } from './open-file.ts'
import { Reads } from './reads.ts'

// The thread that owns the file. It does one message at a time, so no two calls ever meet inside the database.
const port = parentPort
if (port === null) throw new Error('sqlite-worker.ts is a worker')
const settings = workerData as WorkerSettings
const opened = await open()
if (opened !== undefined) serve(opened)

async function open(): Promise<OpenedFile | undefined> {
  try {
    return openFile((await import(settings.driverUrl)) as DriverModule, settings)
  } catch (error: unknown) {
    const code = error instanceof RefusedError ? error.code : 'SAGA_STORE_UNAVAILABLE'
    reply({ type: 'refused', code, message: `${settings.path}: ${messageOf(error)}` })
    port?.close()
    return undefined
  }
}

function serve({ database, durabilityClass }: OpenedFile): void {
  const writer = new BatchWriter(database, settings)
  const checkpoints = new Checkpoints(database)
  const reads = new Reads(database)
  let isBroken = false
  port?.on('message', (request: Request) => {
    if (isBroken) return
    try {
      handle(request, database, { writer, checkpoints, reads })
    } catch (error: unknown) {
      if (!(error instanceof BrokenError)) throw error
      // The thread stays, and with it the lock, until the host closes or exits: the next open decides by the log.
      isBroken = true
      reply({ type: 'broken', message: error.message })
    }
  })
  reply({ type: 'opened', durabilityClass })
}

interface Parts {
  readonly writer: BatchWriter
  readonly checkpoints: Checkpoints
  readonly reads: Reads
}

function handle(request: Request, database: Database, { writer, checkpoints, reads }: Parts): void {
  switch (request.type) {
    case 'write': {
      const answer = write(request, writer)
      reply(answer)
      if (answer.type === 'written') checkpoints.wrote(request.rows, request.bytes)
      else checkpoints.hurry()
      checkpoints.runIfDue()
      return
    }
    case 'read':
      reply(read(request, reads))
      return
    case 'close':
      database.close()
      reply({ type: 'closed' })
      port?.close()
  }
}

function write(request: Request & { type: 'write' }, writer: BatchWriter): Reply {
  try {
    return { type: 'written', results: writer.write(request.writes, request.now) }
  } catch (error: unknown) {
    if (error instanceof BrokenError) throw error
    return { type: 'notWritten', message: messageOf(error) }
  }
}

function read({ id, read }: Request & { type: 'read' }, reads: Reads): Reply {
  try {
    return { type: 'read', id, rows: reads.read(read) }
  } catch (error: unknown) {
    return { type: 'notRead', id, message: messageOf(error) }
  }
}

function reply(message: Reply): void {
  port?.postMessage(message)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
