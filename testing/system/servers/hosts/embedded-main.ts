import { counterstep } from '@counterstep/fastify-plugin'
import type { SubmitRequest } from '@counterstep/protocol'
import { openMysqlStore } from '@counterstep/store-mysql'
import { fastify } from 'fastify'

const [storeUrl = '', leaseMs, pollMs] = process.argv.slice(2)

const app = fastify()
await app.register(counterstep, {
  store: (onEvent) => openMysqlStore({ url: storeUrl, onEvent }),
  targets: 'loopback',
  settings: { leaseMs: Number(leaseMs), pollMs: Number(pollMs) },
  face: { insecureNoKeys: true },
})
app.post<{ Body: SubmitRequest }>('/orders', ({ body }) => app.counterstep.submit(body))
// Nothing ends the process but the end of all that was open.
process.once('SIGTERM', () => void app.close())
const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${JSON.stringify({ url })}\n`)
