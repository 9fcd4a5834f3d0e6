const { BranchFailure, createClient, saga } = require('@counterstep/sdk')
const { branchHandler } = require('@counterstep/sdk/fastify')
const { fastify } = require('fastify')
const { memoryBarrier } = require('./memory-barrier.cjs')

async function main() {
  const cents = { alice: 100, bob: 0 }
  const app = fastify()
  const move = branchHandler(memoryBarrier(), (_tx, { op, payload }) => {
    const { account, delta } = payload
    if (!(account in cents)) throw new BranchFailure('no such account')
    cents[account] += op === 'action' ? delta : -delta
  })
  app.post('/move', move)
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/move`
  const client = createClient({ url: process.env.COUNTERSTEP_URL })
  const part = (account, delta) => ({ action: url, compensation: url, payload: { account, delta } })
  const statuses = []
  for (const to of ['bob', 'nobody']) {
    const transfer = saga({ deadlineMs: 60_000 })
      .branch('debit', part('alice', -5))
      .branch('credit', part(to, 5))
    statuses.push((await client.submit(transfer, { waitMs: 20_000 })).status)
  }
  await app.close()
  console.log(JSON.stringify({ statuses, cents }))
}

main()
