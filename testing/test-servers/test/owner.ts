// This process owns two servers of one kind, for a test that kills it. The second server is paused. The process prints the
// ids of all their processes as one line of JSON.
import { startMariadb, startPostgres, startRedis } from '../src/index.ts'
import { listProcesses } from '../src/processes/list-processes.ts'

const start = { mariadb: startMariadb, postgres: startPostgres, redis: startRedis }[process.argv[2] ?? '']
if (start === undefined) throw new Error(`${process.argv[2]} is no kind of server`)
const servers = await Promise.all([start(), start()])
await servers[1]?.pause()
const first = servers.map((server) => server.pid())
const others = listProcesses().filter(({ parent }) => first.includes(parent))
process.stdout.write(`${JSON.stringify([...first, ...others.map(({ pid }) => pid)])}\n`)
setInterval(() => undefined, 60_000)
