import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../src/index.ts'
import { redisAnswer } from '../src/proxy/redis-answer.ts'
import { describeOn } from '../src/vitest/describe-on.ts'
import { onConnection } from './connect-sql.ts'

/** In this time an answer would have come through a proxy without a fault. */
const SILENCE_MS = 300

let key = ''
let keysGiven = 0
beforeEach(() => {
  keysGiven += 1
  key = `proxy-${process.pid}-${keysGiven}`
})

describeOn('redis', 'a proxy', (url) => {
  const server = { host: new URL(url).hostname, port: Number(new URL(url).port) }
  const atServer = (...words: readonly string[]) => redisAnswer(server, words)
  let proxy: TcpProxy
  let client: Client
  beforeEach(async () => {
    proxy = await startTcpProxy(server)
    client = await openClient(proxy.port)
    // The proxy knows the connection only after the first answer.
    client.send('PING')
    expect(await client.answer()).toBe('+PONG')
  })
  afterEach(async () => {
    client.socket.destroy()
    await proxy.close()
  })

  it('A proxy passes everything on when nothing is wrong', async () => {
    const value = 'x'.repeat(20_000_000)
    client.send('SET', key, value)
    expect(await client.answer()).toBe('+OK')
    client.send('STRLEN', key)
    expect(await client.answer()).toBe(':20000000')
    await atServer('DEL', key)
    expect(proxy.through('redis://user:secret@example.com:1/2')).toBe(
      `redis://user:secret@127.0.0.1:${proxy.port}/2`,
    )
  })

  it('A proxy passes on the end of a connection', async () => {
    client.send('QUIT')
    expect(await client.answer()).toBe('+OK')
    client.socket.end()
    await client.closed
    expect(client.error()).toBe(undefined)
  })

  it('A proxy resets what is open, and serves what comes next', async () => {
    proxy.cut()
    await client.closed
    expect(client.error()).toBe('ECONNRESET')
    expect(proxy.counts()).toMatchObject({ connections: 1, cut: 1 })
    const next = await openClient(proxy.port)
    next.send('PING')
    expect(await next.answer()).toBe('+PONG')
    next.socket.destroy()
  })

  it('A proxy refuses new connections and keeps the old ones', async () => {
    proxy.refuse()
    const refused = newClient(proxy.port)
    await refused.closed
    expect(refused.error()).toBe('ECONNRESET')
    client.send('PING')
    expect(await client.answer()).toBe('+PONG')
    expect(proxy.counts().refused).toBe(1)
    proxy.accept()
    const accepted = await openClient(proxy.port)
    accepted.send('PING')
    expect(await accepted.answer()).toBe('+PONG')
    accepted.socket.destroy()
  })

  it('A proxy resets the client of a server that is not there', async () => {
    const nowhere = await startTcpProxy({ host: '127.0.0.1', port: 1 })
    const lost = newClient(nowhere.port)
    await lost.closed
    expect(lost.error()).toBe('ECONNRESET')
    await nowhere.close()
  })

  it('A proxy drops the answer to a request that the server carries out', async () => {
    const fault = proxy.dropAnswerWhen((chunk) => chunk.includes(key))
    client.send('PING')
    expect(await client.answer()).toBe('+PONG')
    client.send('SET', key, '1')
    await client.closed
    expect(client.error()).toBe('ECONNRESET')
    expect(client.unread()).toBe('')
    expect(await atServer('GET', key)).toBe('1')
    expect([fault.bites(), proxy.counts().answersDropped]).toEqual([1, 1])
    await fault.bitten
  })

  it('A proxy drops as many answers as it is told to', async () => {
    const fault = proxy.dropAnswerWhen((chunk) => chunk.includes(key), 2)
    for (const expected of ['ECONNRESET', 'ECONNRESET', undefined]) {
      const next = await openClient(proxy.port)
      next.send('INCR', key)
      if (expected === undefined) expect(await next.answer()).toBe(':3')
      else await next.closed
      expect(next.error()).toBe(expected)
      next.socket.destroy()
    }
    expect(fault.bites()).toBe(2)
  })

  it('A proxy cuts before a request that the server never sees', async () => {
    const fault = proxy.cutBefore((chunk) => chunk.includes(key))
    client.send('SET', key, '1')
    await client.closed
    expect(client.error()).toBe('ECONNRESET')
    expect(await atServer('GET', key)).toBe('')
    expect([fault.bites(), proxy.counts().requestsDropped]).toEqual([1, 1])
  })

  it('A proxy forgets a fault that is cancelled', async () => {
    const fault = proxy.cutBefore((chunk) => chunk.includes(key))
    fault.cancel()
    client.send('SET', key, '1')
    expect(await client.answer()).toBe('+OK')
    expect(fault.bites()).toBe(0)
  })

  it('A black hole swallows both ways, and what lost bytes is reset when it heals', async () => {
    const idle = await openClient(proxy.port)
    idle.send('PING')
    expect(await idle.answer()).toBe('+PONG')
    proxy.blackHole()
    client.send('SET', key, '1')
    await silence()
    expect([client.unread(), client.error(), client.socket.destroyed]).toEqual(['', undefined, false])
    expect(await atServer('GET', key)).toBe('')
    expect(proxy.counts().swallowedBytes).toBeGreaterThan(0)
    proxy.heal()
    await client.closed
    expect(client.error()).toBe('ECONNRESET')
    idle.send('PING')
    expect(await idle.answer()).toBe('+PONG')
    idle.socket.destroy()
  })

  it('A black hole keeps from the server that a client is gone', async () => {
    client.send('CLIENT', 'SETNAME', key)
    expect(await client.answer()).toBe('+OK')
    proxy.blackHole()
    client.socket.resetAndDestroy()
    await silence()
    expect(await atServer('CLIENT', 'LIST')).toContain(key)
    proxy.heal()
    while ((await atServer('CLIENT', 'LIST')).includes(key)) await turn()
    expect(proxy.openConnections()).toBe(0)
  })

  it('A proxy delivers late what it held', async () => {
    proxy.hold()
    client.send('SET', key, '1')
    await silence()
    expect([client.unread(), await atServer('GET', key)]).toEqual(['', ''])
    proxy.release()
    expect(await client.answer()).toBe('+OK')
  })

  it('A proxy delivers in slices, one after the other, and whole again', async () => {
    proxy.slice(5, 10)
    const startedAt = performance.now()
    client.send('SET', key, 'x'.repeat(40))
    expect(await client.answer()).toBe('+OK')
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(100)
    client.send('STRLEN', key)
    expect(await client.answer()).toBe(':40')
    proxy.unslice()
    const wholeAt = performance.now()
    client.send('SET', key, 'x'.repeat(4_000))
    expect(await client.answer()).toBe('+OK')
    expect(performance.now() - wholeAt).toBeLessThan(1_000)
  })

  it('A proxy delays each way', async () => {
    proxy.latency(150)
    const startedAt = performance.now()
    client.send('PING')
    client.send('ECHO', key)
    expect(await client.answer()).toBe('+PONG')
    expect(await client.answer()).toBe(`$${key.length}`)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(299)
  })
})

for (const kind of ['mariadb', 'mysql'] as const) {
  describeOn(kind, 'a proxy', (url) => {
    const server = { host: new URL(url).hostname, port: Number(new URL(url).port || 3306) }
    let proxy: TcpProxy
    const database = `proxy_${process.pid}_${kind}`
    beforeEach(async () => {
      proxy = await startTcpProxy(server)
      await onConnection(url, async (connection) => {
        await connection.query(`DROP DATABASE IF EXISTS ${database}`)
        await connection.query(`CREATE DATABASE ${database}`)
        await connection.query(`CREATE TABLE ${database}.notes (id INT PRIMARY KEY)`)
      })
    })
    afterEach(async () => {
      await proxy.close()
      await onConnection(url, (connection) => connection.query(`DROP DATABASE ${database}`))
    })

    async function insertAndCommit(): Promise<unknown> {
      return await onConnection(proxy.through(url), async (connection) => {
        await connection.query('BEGIN')
        await connection.query(`INSERT INTO ${database}.notes VALUES (1)`)
        await connection.query('COMMIT')
      })
    }

    function count(): Promise<unknown> {
      return onConnection(url, async (connection) => {
        const [rows] = await connection.query(`SELECT id FROM ${database}.notes FOR UPDATE`)
        return rows
      })
    }

    it('A proxy loses the answer to a COMMIT that took effect', async () => {
      const fault = proxy.dropAnswerWhen((chunk) => chunk.includes('COMMIT'))
      await expect(insertAndCommit()).rejects.toMatchObject({ code: 'ECONNRESET' })
      expect(await count()).toEqual([{ id: 1 }])
      expect(fault.bites()).toBe(1)
    })

    it('A proxy loses a COMMIT that then takes no effect', async () => {
      const fault = proxy.cutBefore((chunk) => chunk.includes('COMMIT'))
      await expect(insertAndCommit()).rejects.toMatchObject({ code: 'ECONNRESET' })
      expect(await count()).toEqual([])
      expect(fault.bites()).toBe(1)
    })
  })
}

interface Client {
  readonly socket: Socket
  readonly closed: Promise<unknown>
  send(...words: readonly string[]): void
  /** Returns the next line. */
  answer(): Promise<string>
  unread(): string
  error(): string | undefined
}

async function openClient(port: number): Promise<Client> {
  const client = newClient(port)
  await once(client.socket, 'connect')
  return client
}

function newClient(port: number): Client {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  let code: string | undefined
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    code = error.code
  })
  const closed = new Promise((resolve) => {
    socket.once('close', resolve)
  })
  return {
    socket,
    closed,
    send(...words) {
      socket.write(`*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`)
    },
    async answer() {
      while (!text.includes('\r\n')) await once(socket, 'data')
      const [line = ''] = text.split('\r\n', 1)
      text = text.slice(line.length + 2)
      return line
    },
    unread: () => text,
    error: () => code,
  }
}

function silence(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SILENCE_MS))
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10))
}
