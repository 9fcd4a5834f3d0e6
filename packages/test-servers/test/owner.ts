// A process that owns servers, for a test that kills it. Prints what it owns as one line of JSON.
import { startMariadb, startRedis } from '../src/index.ts'

const servers = await Promise.all([startMariadb(), startRedis(), startRedis()])
await servers[2]?.pause()
process.stdout.write(
  `${JSON.stringify(servers.map((server) => ({ pid: server.pid(), port: server.port })))}\n`,
)
setInterval(() => undefined, 60_000)
