import { answerBranch, BranchFailure } from '@counterstep/sdk'
import { migrateBarrier, mysqlBarrier } from '@counterstep/sdk/barrier/mysql'
import { describeOn } from '@counterstep/test-servers/vitest'
import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise'
import { expect, it, onTestFinished } from 'vitest'
import { createApi, createSweeper, type FunctionOptions, type InProcessBranch } from '../../src/index.ts'
import { buildHttpEvent, createContext, type HttpAnswer } from '../support/lambda-context.ts'
import { createOwnStore } from './support/own-store.ts'

const PASSWORD = 'the-password-of-this-test'
const PLENTY_MS = 20_000
/** A call is not begun that could not end in this time. */
const CALL_MS = 1_000

describeOn('mariadb', 'branches that are functions of the bundle', (serverUrl) => {
  async function openStore() {
    const store = await createOwnStore(serverUrl, PASSWORD)
    onTestFinished(() => store.drop())
    const environment = {
      COUNTERSTEP_STORE: store.url,
      COUNTERSTEP_STORE_PASSWORD: PASSWORD,
      COUNTERSTEP_AUTHORIZER: 'iam',
    }
    return { environment, url: store.url }
  }

  async function openBarrierPool(storeUrl: string): Promise<Pool> {
    const url = new URL(storeUrl)
    url.password = PASSWORD
    const pool = createPool(url.href)
    onTestFinished(() => pool.end())
    await migrateBarrier(pool)
    return pool
  }

  it('They run in the invocation behind their barrier, and one that hangs is called again by the next one', async () => {
    const { environment, url } = await openStore()
    const pool = await openBarrierPool(url)
    await pool.query('CREATE TABLE taken (gid VARCHAR(128) NOT NULL, op VARCHAR(16) NOT NULL)')
    const barrier = mysqlBarrier(pool)
    const note: InProcessBranch = (call) =>
      answerBranch(
        barrier,
        async (tx, { gid, op, payload }) => {
          if ((payload as { refuse?: true }).refuse && op === 'action') throw new BranchFailure('sold out')
          await tx.query('INSERT INTO taken VALUES (?, ?)', [gid, op])
        },
        call,
      )
    let hangs = 1
    const options: FunctionOptions = {
      branches: {
        stock: {
          '/take': note,
          '/hang': (call) => (hangs-- > 0 ? new Promise(() => undefined) : note(call)),
        },
      },
    }
    const api = await createApi(environment, options)
    const sweeper = await createSweeper(environment, options)
    const submit = async (gid: string, last: object, action = 'stock:/take') => {
      const branch = { action, compensation: 'stock:/take', timeoutMs: CALL_MS }
      const body = {
        gid,
        branches: [
          { ...branch, payload: {} },
          { ...branch, payload: last },
        ],
        retry: { initialMs: 20, factor: 1 },
      }
      const event = buildHttpEvent('POST', '/v1/transactions', { body, headers: { prefer: 'wait=10' } })
      const answer = (await api(event, createContext(PLENTY_MS))) as HttpAnswer
      return [answer.statusCode, JSON.parse(answer.body).status]
    }
    const read = async (gid: string) => {
      const [rows] = await pool.query<RowDataPacket[]>('SELECT op FROM taken WHERE gid = ?', [gid])
      return rows.map(({ op }) => op)
    }
    expect(await submit('sold', {})).toEqual([200, 'succeeded'])
    expect(await read('sold')).toEqual(['action', 'action'])
    expect(await submit('sold-out', { refuse: true })).toEqual([200, 'failed'])
    expect((await read('sold-out')).toSorted()).toEqual(['action', 'compensate'])
    expect(await submit('hung', {}, 'stock:/hang')).toEqual([200, 'succeeded'])
    expect(await read('hung')).toEqual(['action', 'action'])
    // The invocation ends before the call does, and leaves the saga to the sweeper.
    hangs = 1
    const body = {
      gid: 'left',
      branches: [{ action: 'stock:/hang', timeoutMs: PLENTY_MS, payload: {} }],
      retry: { initialMs: 20, factor: 1 },
    }
    const given = await api(buildHttpEvent('POST', '/v1/transactions', { body }), createContext(5_000))
    expect((given as HttpAnswer).statusCode).toBe(202)
    expect(await read('left')).toEqual([])
    await expect
      .poll(
        async () => {
          await sweeper({}, createContext(PLENTY_MS))
          return read('left')
        },
        { timeout: 60_000 },
      )
      .toEqual(['action'])
  }, 120_000)

  it('S40: A branch that is cut has ended its database transaction before its function is answered and frozen', async () => {
    const { environment, url } = await openStore()
    const pool = await openBarrierPool(url)
    await pool.query('CREATE TABLE stock (item VARCHAR(16) PRIMARY KEY, free INT NOT NULL)')
    await pool.query("INSERT INTO stock VALUES ('book', 5)")
    const barrier = mysqlBarrier(pool)
    let held = 0
    const hold: InProcessBranch = (call) =>
      answerBranch(
        barrier,
        async (tx) => {
          await tx.query("UPDATE stock SET free = free - 1 WHERE item = 'book'")
          held++
          await new Promise(() => undefined)
        },
        call,
      )
    const api = await createApi(environment, { branches: { stock: { '/take': hold } } })
    const body = { gid: 'held', branches: [{ action: 'stock:/take', timeoutMs: PLENTY_MS }] }
    const event = buildHttpEvent('POST', '/v1/transactions', { body })
    const answer = (await api(event, createContext(5_000))) as HttpAnswer
    expect([answer.statusCode, held]).toEqual([202, 1])
    // Another user of the row waits for no lock as soon as the server has seen the end of the connection, which is long
    // before the barrier's own limit of 10 s.
    const lock = "SELECT free FROM stock WHERE item = 'book' FOR UPDATE NOWAIT"
    const read = async () => (await pool.query(lock).catch(() => [undefined]))[0]
    await expect.poll(read, { timeout: 3_000 }).toEqual([{ free: 5 }])
  }, 60_000)

  it('S20: A branch that throws an error which no log can read is a failed attempt, and the process goes on', async () => {
    const { environment } = await openStore()
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const left: unknown[] = [
      Object.assign(new Error('a stack as a hook of the process makes it'), { stack: [{ fn: 'call site' }] }),
      Object.assign(new Error('a name that JSON does not know'), { name: 10n }),
      proxy,
    ]
    const take: InProcessBranch = () => {
      if (left.length > 0) throw left.shift()
      return { answer: { statusCode: 200 } }
    }
    const api = await createApi(environment, { branches: { stock: { '/take': take } } })
    const body = { branches: [{ id: 'b', action: 'stock:/take' }], retry: { initialMs: 20, factor: 1 } }
    const event = buildHttpEvent('POST', '/v1/transactions', { body, headers: { prefer: 'wait=10' } })
    const answer = (await api(event, createContext(PLENTY_MS))) as HttpAnswer
    expect(JSON.parse(answer.body).status).toBe('succeeded')
    expect(left).toEqual([])
  }, 60_000)

  it('A service that is at a URL too is refused, and a function with branches of its own needs no other target', async () => {
    const branches = { stock: { '/take': () => ({ answer: { statusCode: 200 } }) } }
    const environment = {
      COUNTERSTEP_STORE: 'mysql://nobody@127.0.0.1:1/none',
      COUNTERSTEP_STORE_PASSWORD: PASSWORD,
      COUNTERSTEP_AUTHORIZER: 'iam',
    }
    await expect(createApi(environment)).rejects.toThrow('say where branches may be called')
    const both = { ...environment, COUNTERSTEP_SERVICES: 'stock=https://stock.example' }
    await expect(createApi(both, { branches })).rejects.toThrow('branches.stock is a service at a URL, too')
  })
})
