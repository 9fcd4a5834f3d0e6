// The process of the shop: node shop.ts FILE PORT PARTNERS_URL [SKU]. It prints where it listens, and then what it does.
import { DatabaseSync } from 'node:sqlite'
import { workflowHandler } from '@counterstep/sdk/fastify'
import fastify from 'fastify'
import { createOrder, migrateShop } from './order.ts'

const [file = '', port = '0', partnersUrl = '', fatalSku] = process.argv.slice(2)
const database = new DatabaseSync(file)
migrateShop(database)

const app = fastify({ forceCloseConnections: true, logger: { level: 'error', stream: process.stderr } })
app.post('/workflows', workflowHandler([createOrder(database, partnersUrl)]))

// This is only for the show. The worst moment to die is when the reservation is committed and no one has been told.
if (fatalSku !== undefined) {
  const reserved = database.prepare('SELECT 1 FROM reservation WHERE sku = ?')
  app.addHook('onSend', async () => {
    if (reserved.get(fatalSku) !== undefined) process.kill(process.pid, 'SIGKILL')
  })
}

process.once('SIGTERM', () => void app.close().then(() => database.close()))
const url = await app.listen({ host: '127.0.0.1', port: Number(port) })
console.log(JSON.stringify({ url }))
