// The floor: one request in, calls to the branch process one after the other, nothing stored, nothing checked.
// Arguments: the branch process's URL, the number of calls.
import { fastify } from 'fastify'
import { Pool } from 'undici'
import { announce } from './announce.ts'

const [branchUrl = '', callsText = '2'] = process.argv.slice(2)
const calls = Number(callsText)
const headers = { 'content-type': 'application/json' }
const branches = new Pool(branchUrl, { pipelining: 1 })
const app = fastify({ logger: false })

app.post('/relay', async (request, reply) => {
  const body = JSON.stringify(request.body)
  for (let call = 1; call <= calls; call += 1) {
    const answer = await branches.request({ method: 'POST', path: `/action-${call}`, headers, body })
    await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`a branch answered ${answer.statusCode}`)
  }
  return reply.header('content-type', 'application/json').send('{"ok":true}')
})

await app.listen({ host: '127.0.0.1', port: 0 })
announce(app.server.address())
process.on('SIGTERM', () => process.exit(0))
