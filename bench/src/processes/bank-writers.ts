// The raw store: database transactions one after the other over some connections, without HTTP. One job at a time, over
// the channel to the harness. The database's URL, which may hold a password, is in BANK_DATABASE.
import { createPool } from 'mysql2/promise'
import { runWriters, WRITERS, type WritersJob } from '../transfer/run-writers.ts'

const { BANK_DATABASE: uri = '' } = process.env
const pool = createPool({ uri, connectionLimit: WRITERS, maxIdle: WRITERS })

process.on('message', (job: WritersJob) => {
  void runWriters(pool, job).then((result) => process.send?.(result))
})
// It listens nowhere: only the channel keeps it alive.
process.channel?.ref()
process.on('SIGTERM', () => process.exit(0))
