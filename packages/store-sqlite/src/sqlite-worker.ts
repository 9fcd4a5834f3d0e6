import { parentPort, workerData } from 'node:worker_threads'
import { BatchWriter } from './batch-writer.ts'
import { Checkpoints } from './checkpoints.ts'
import type { Database, DriverModule } from './driver.ts'
import { BrokenError, RefusedError } from './errors.ts'
import type { LockFile } from './lock-file.ts'
import { LogFlushes } from './log-flushes.ts'
import type { Reply, Request, WorkerSettings } from './messages.ts'
import { type OpenedFile, openFile } from './open-file.ts'
import type { OpenFiles } from './open-files.ts'
import { ReadGate } from './read-gate.ts'
import { isDiskFault, markUnflushed } from './unflushed.ts'

// This thread writes the file. It does one message at a time, so two writes never meet inside the database.

/**
 * After the lock file was removed, another process can open the file for at most this time. After the database or its log
 * was removed, writes that would be lost are acknowledged for as long. After the locks have ended no write is acknowledged,
 * and a store that writes nothing learns of it within this time.
 */
const LOOK_MS = 1_000

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
    reply({ type: 'refused', code, message: `${settings.path}: ${readMessage(error)}` })
    port?.close()
    return undefined
  }
}

function serve({ path, database, lock, files, durabilityClass, warnings }: OpenedFile): void {
  const writer = new BatchWriter(database, settings)
  let isBroken = false
  // The thread and its lock stay until the host closes or exits. Then the next open decides by the log.
  const runGuarded = (work: () => void) => {
    if (isBroken) return
    try {
      work()
    } catch (error: unknown) {
      if (!(error instanceof BrokenError)) throw error
      isBroken = true
      reply({ type: 'broken', message: error.message + markIfUnflushed(path, error) })
    }
  }
  const assertLocked = () => {
    lock.assertHeld()
    files.assertLocked()
  }
  const runLocked = (work: () => void) =>
    runGuarded(() => {
      assertLocked()
      work()
    })
  const checkpoints = new Checkpoints(database, new ReadGate(settings.gate), runLocked)
  const flushes = settings.synchronous === 'NORMAL' ? new LogFlushes(path, runLocked) : undefined
  const looking = setInterval(
    () =>
      runGuarded(() => {
        lock.keep()
        files.assertInPlace()
        files.assertLocked()
      }),
    LOOK_MS,
  )
  port?.on('message', (request: Request) =>
    runGuarded(() =>
      handle(request, { database, lock, files, assertLocked, looking, writer, checkpoints, flushes }),
    ),
  )
  reply({ type: 'opened', durabilityClass, warnings })
}

/** Returns what has to be said besides the error. If the process dies before the mark is there, the kernel tells the next one of the failed flush. */
function markIfUnflushed(path: string, error: BrokenError): string {
  if (!isDiskFault(error)) return ''
  try {
    markUnflushed(path)
    return ''
  } catch (cause: unknown) {
    return `; and the folder takes no file that says so (${readMessage(cause)}): restart the machine before the next start`
  }
}

interface Parts {
  readonly database: Database
  readonly lock: LockFile
  readonly files: OpenFiles
  readonly assertLocked: () => void
  readonly writer: BatchWriter
  readonly looking: NodeJS.Timeout
  readonly checkpoints: Checkpoints
  readonly flushes: LogFlushes | undefined
}

function handle(request: Request, parts: Parts): void {
  const { database, lock, files, assertLocked, looking, writer, checkpoints, flushes } = parts
  switch (request.type) {
    case 'write': {
      const answer = write(request, writer)
      // If the locks are still there after the commit, every process that opens the file later finds it in the log.
      assertLocked()
      reply(answer)
      if (answer.type === 'written') checkpoints.countWritten(request.rows, request.bytes)
      else checkpoints.hurry()
      flushes?.plan()
      checkpoints.runIfDue()
      return
    }
    case 'close':
      checkpoints.stop()
      flushes?.stop()
      clearInterval(looking)
      files.close()
      database.close()
      lock.close()
      reply({ type: 'closed' })
      port?.close()
  }
}

function write(request: Request & { type: 'write' }, writer: BatchWriter): Reply {
  try {
    return { type: 'written', results: writer.write(request.writes, request.now) }
  } catch (error: unknown) {
    if (error instanceof BrokenError) throw error
    return { type: 'notWritten', message: readMessage(error) }
  }
}

function reply(message: Reply): void {
  port?.postMessage(message)
}

function readMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
