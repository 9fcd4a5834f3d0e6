import { describeOn } from '@counterstep/test-servers/vitest'
import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import { expect, it } from 'vitest'
import { ownStore } from './own-store.ts'

interface Connection {
  query(sql: string): Promise<unknown>
  end(): Promise<void>
}

async function connect(url: string): Promise<Connection> {
  if (url.startsWith('mysql:')) return createConnection(url)
  const client = new Client({ connectionString: url })
  await client.connect()
  return client
}

for (const server of ['mariadb', 'mysql', 'postgres'] as const) {
  describeOn(server, 'a database that no other test has', (serverUrl) => {
    it('The store tells of a database transaction that stays open, and of none when it is over', async () => {
      const store = await ownStore(serverUrl)
      const connection = await connect(store.url)
      try {
        await connection.query('CREATE TABLE one (id INT PRIMARY KEY)')
        await connection.query('INSERT INTO one VALUES (1)')
        await connection.query('START TRANSACTION')
        await connection.query('UPDATE one SET id = 2')
        expect(await store.hasLongTransaction()).toBe(true)
        await connection.query('COMMIT')
        expect(await store.hasLongTransaction()).toBe(false)
      } finally {
        await connection.end()
        await store.drop()
      }
    })

    it('One that stays open is seen beside many short ones, and these are no such transaction', async () => {
      const store = await ownStore(serverUrl)
      const [waiting, busy] = [await connect(store.url), await connect(store.url)]
      try {
        await waiting.query('CREATE TABLE counts (name INT PRIMARY KEY, count INT NOT NULL)')
        await waiting.query('INSERT INTO counts VALUES (1, 0), (2, 0)')
        const end = new AbortController()
        const increments = incrementUntil(end.signal, busy)
        await waiting.query('START TRANSACTION')
        await waiting.query('UPDATE counts SET count = count + 1 WHERE name = 2')
        const during = await store.hasLongTransaction()
        await waiting.query('COMMIT')
        const after = await store.hasLongTransaction()
        end.abort()
        await increments
        expect({ during, after }).toEqual({ during: true, after: false })
      } finally {
        await waiting.end()
        await busy.end()
        await store.drop()
      }
    })
  })
}

async function incrementUntil(end: AbortSignal, connection: Connection): Promise<void> {
  while (!end.aborted) await connection.query('UPDATE counts SET count = count + 1 WHERE name = 1')
}
