import { describeOn } from '@counterstep/test-servers/vitest'
import { createConnection } from 'mysql2/promise'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type OwnStore, ownStore } from './own-store.ts'

const SHORT_ONES = 200

describeOn('mariadb', 'transactions of a database that are open for long', (serverUrl) => {
  let store: OwnStore

  beforeAll(async () => {
    store = await ownStore(serverUrl)
    const connection = await createConnection(store.url)
    await connection.query('CREATE TABLE counts (name INT PRIMARY KEY, count INT NOT NULL)')
    await connection.query('INSERT INTO counts VALUES (1, 0), (2, 0)')
    await connection.end()
  })

  afterAll(() => store.drop())

  it('One that waits for its program is seen until its end, beside many short ones that are not', async () => {
    const [waiting, busy] = [await createConnection(store.url), await createConnection(store.url)]
    try {
      const end = new AbortController()
      const increment = async () => {
        for (let i = 0; i < SHORT_ONES || !end.signal.aborted; i++) {
          await busy.query('UPDATE counts SET count = count + 1 WHERE name = 1')
        }
      }
      const increments = increment()
      await waiting.query('BEGIN')
      await waiting.query('UPDATE counts SET count = count + 1 WHERE name = 2')
      const during = await store.hasLongTransaction()
      await waiting.query('COMMIT')
      const after = await store.hasLongTransaction()
      end.abort()
      await increments
      expect({ during, after }).toEqual({ during: true, after: false })
    } finally {
      waiting.destroy()
      busy.destroy()
    }
  })
})
