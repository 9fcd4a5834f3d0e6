import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { type Branch, BranchFailure, createClient, saga } from '@counterstep/sdk'
import { migrateBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import { fetchHandler } from '@counterstep/sdk/fetch'

async function main(): Promise<void> {
  const database = new DatabaseSync(':memory:')
  migrateBarrier(database)
  database.exec(`CREATE TABLE account (id TEXT PRIMARY KEY, cents INTEGER NOT NULL);
    INSERT INTO account VALUES ('alice', 100), ('bob', 0)`)
  const move = fetchHandler(
    sqliteBarrier(database),
    (tx, { op, payload }: Branch<{ account: string; delta: number }>) => {
      const delta = op === 'action' ? payload.delta : -payload.delta
      const { changes } = tx
        .prepare('UPDATE account SET cents = cents + ? WHERE id = ?')
        .run(delta, payload.account)
      if (changes === 0) throw new BranchFailure('no such account')
    },
  )
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk)
    const headers = request.headers as Record<string, string>
    const asked = new Request(`http://bank.test${request.url}`, {
      ...{ method: 'POST', headers, body: Buffer.concat(chunks) },
    })
    const answer = await move(asked)
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/move`
  const client = createClient({ url: process.env.COUNTERSTEP_URL ?? '' })
  const part = (account: string, delta: number) => ({
    action: url,
    compensation: url,
    payload: { account, delta },
  })
  const statuses: string[] = []
  for (const to of ['bob', 'nobody']) {
    const transfer = saga({ deadlineMs: 60_000 })
      .branch('debit', part('alice', -5))
      .branch('credit', part(to, 5))
    statuses.push((await client.submit(transfer, { waitMs: 20_000 })).status)
  }
  server.closeAllConnections()
  server.close()
  const rows = database.prepare('SELECT id, cents FROM account').all()
  const cents = Object.fromEntries(rows.map(({ id, cents }) => [id, cents]))
  console.log(JSON.stringify({ statuses, cents }))
}

main()
