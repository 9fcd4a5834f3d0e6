import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { StoreEvent } from '@counterstep/core'
import { startPostgres } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import pg from 'pg'
import { expect, it } from 'vitest'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { aTransaction } from './transactions.ts'

describeOwn('postgres', 'a host name that leads to another server', () => {
  it('The store reports when another server has taken the place of its own', {
    timeout: 60_000,
  }, async () => {
    const servers = await Promise.all([startPostgres(), startPostgres()])
    const [one, other] = servers
    const relay = await startRelay(one.port)
    try {
      for (const { url } of servers) await createUser(url)
      const events: StoreEvent[] = []
      const at = (port: number) => `postgres://owner:p@127.0.0.1:${port}/taken`
      const store = await openPostgresStore({ url: at(relay.port), onEvent: (event) => events.push(event) })
      await (await openPostgresStore({ url: at(other.port) })).close()
      await store.create(aTransaction('a'))
      relay.leadTo(one.port)
      await store.stats()
      expect(events).toEqual([])
      relay.leadTo(other.port)
      expect(await store.create(aTransaction('a'))).toMatchObject({ type: 'created' })
      await store.stats()
      expect(events).toMatchObject([{ level: 'warn', name: 'store-server-changed' }])
      expect(events[0]?.detail).toContain('class A')
      await store.close()
    } finally {
      relay.close()
      await Promise.all(servers.map((server) => server.stop()))
    }
  })
})

async function createUser(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query("CREATE ROLE owner LOGIN PASSWORD 'p'")
  await client.query('CREATE DATABASE taken OWNER owner')
  await client.end()
}

/** Starts an address that leads to one server and then to another, like a host name after a failover. */
async function startRelay(firstPort: number) {
  let port = firstPort
  const sockets = new Set<Socket>()
  const relay = createServer((client) => {
    const target = connect(port, '127.0.0.1')
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    }
    client.pipe(target).pipe(client)
  })
  relay.listen(0, '127.0.0.1')
  await once(relay, 'listening')
  const address = relay.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    leadTo(next: number) {
      port = next
      for (const socket of sockets) socket.destroy()
    },
    close() {
      relay.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
