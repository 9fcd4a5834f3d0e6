import { canary } from '@counterstep/test-servers/canary'
import { until } from '@counterstep/test-servers/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FuzzedServer } from '../src/fuzz/fuzzed-server.ts'
import { RawConnection } from '../src/fuzz/raw-connection.ts'
import { NO_ANSWER, RAW_CASES } from './fuzz/raw-cases.ts'

/** An answer at once, on two cores that others use too, takes no longer. */
const PROMPT_MS_MAX = 8_000
/** A request has 15 s to come, the server looks each 2 s, and other tests use the cores, too. */
const SLOW_MS_MAX = 30_000
const IDLE = 1_000
const GROWTH_BYTES_MAX = 100 * 2 ** 20
const GONE_MS_MAX = 20_000
const HOST = `Host: localhost\r\nX-Secret: ${canary('raw-header')}\r\n`

describe('raw connections', () => {
  let server: FuzzedServer
  beforeAll(async () => {
    server = await FuzzedServer.start()
  })
  afterAll(async () => {
    await server.stop()
  })

  const faces = [
    { face: 'native HTTP API', path: '/v1/transactions', url: () => server.url },
    { face: 'DTM dialect', path: '/api/dtmsvr/submit', url: () => server.dtmUrl },
  ]

  for (const { face, path, url } of faces) {
    for (const { title, bytes, statuses } of RAW_CASES) {
      it(`The ${face} answers ${title}, and ends the connection`, async () => {
        const connection = await RawConnection.to(url())
        connection.send(bytes.replace('/v1/transactions', path))
        await connection.ended(PROMPT_MS_MAX)
        expect(connection.statuses.length).toBeLessThan(2)
        expect(statuses).toContain(connection.statuses[0] ?? NO_ANSWER)
      })
    }

    it(`The ${face} ends a slow head, a slow body, and a body that never comes`, async () => {
      const head = `POST ${path} HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`
      const starts = [
        ...['P', `POST ${path} HTTP/1.1\r\n`, `${head}X: `, `${head}Content-Length: 999\r\n\r\n`],
        ...[
          `${head}Transfer-Encoding: chunked\r\n\r\n999\r\n{`,
          `${head}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
        ],
      ]
      const connections = await Promise.all(starts.map(() => RawConnection.to(url())))
      for (const [index, connection] of connections.entries()) connection.send(starts[index] ?? '')
      // A byte now and then buys no time.
      const drip = setInterval(() => {
        for (const connection of connections.slice(2, 5)) if (!connection.isClosed) connection.send(' ')
      }, 1_000)
      try {
        await Promise.all(connections.map((connection) => connection.ended(SLOW_MS_MAX)))
      } finally {
        clearInterval(drip)
      }
      for (const { statuses } of connections)
        expect([[], [400], [408], [100, 408], [100]]).toContainEqual(statuses)
    }, 60_000)

    it(`S32: The ${face} is answered while ${IDLE} others send their head byte by byte`, async () => {
      const slow = await Promise.all(Array.from({ length: IDLE }, () => RawConnection.to(url())))
      for (const connection of slow) connection.send(`POST ${path} HTTP/1.1\r\n${HOST}X-Slow: `)
      const drip = setInterval(() => {
        for (const connection of slow) if (!connection.isClosed) connection.send('a')
      }, 200)
      try {
        const tookMs: number[] = []
        for (let request = 0; request < 20; request += 1) {
          const startedAt = performance.now()
          const answer = await fetch(new URL('/nothing-here', url()))
          await answer.arrayBuffer()
          expect(answer.status).toBe(404)
          tookMs.push(performance.now() - startedAt)
        }
        // An answer takes less than 100 ms by itself; here the machine also writes 1,000 bytes each 200 ms.
        expect(Math.min(...tookMs)).toBeLessThan(100)
        expect(Math.max(...tookMs)).toBeLessThan(PROMPT_MS_MAX)
      } finally {
        clearInterval(drip)
        for (const connection of slow) connection.drop()
      }
    }, 60_000)

    it(`The ${face} goes on when clients leave in the middle of a body`, async () => {
      const head = `POST ${path} HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`
      const connections = await Promise.all(Array.from({ length: 100 }, () => RawConnection.to(url())))
      for (const connection of connections) connection.send(head)
      for (const [index, connection] of connections.entries()) {
        if (index % 2 === 0) connection.drop()
        else connection.endSending()
      }
      await Promise.all(connections.map((connection) => connection.ended(PROMPT_MS_MAX)))
      expect((await fetch(`${server.url}/health/ready`)).status).toBe(200)
    })
  }

  it('A client that has ended its side of the connection is answered', async () => {
    const connection = await RawConnection.to(server.url)
    connection.send(`GET /health/live HTTP/1.1\r\n${HOST}\r\n`)
    connection.endSending()
    await connection.ended(PROMPT_MS_MAX)
    expect(connection.statuses).toEqual([200])
  })

  it('Pipelined requests are answered in their order, the slow ones too', async () => {
    const gid = 'pipelined'
    const branches = [{ action: 'http://127.0.0.1:9/a' }]
    const submit = JSON.stringify({ gid, branches, delayMs: 3_600_000 })
    const posted = `Content-Type: application/json\r\nContent-Length: ${submit.length}\r\n\r\n${submit}`
    const connection = await RawConnection.to(server.url)
    connection.send(
      [
        `POST /v1/transactions HTTP/1.1\r\n${HOST}Prefer: wait=1\r\n${posted}`,
        `GET /nothing HTTP/1.1\r\n${HOST}\r\n`,
        `GET /v1/transactions?limit=1 HTTP/1.1\r\n${HOST}\r\n`,
        `DELETE /v1/transactions/${gid} HTTP/1.1\r\n${HOST}\r\n`,
        `GET /health/live HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
      ].join(''),
    )
    await connection.ended(PROMPT_MS_MAX)
    expect(connection.statuses).toEqual([202, 404, 200, 405, 200])
  })

  it('Pipelined garbage ends the connection, and nothing after it is answered', async () => {
    const connection = await RawConnection.to(server.url)
    connection.send(
      `GET /health/live HTTP/1.1\r\n${HOST}\r\nGARBAGE\r\n\r\nGET /health/live HTTP/1.1\r\n${HOST}\r\n`,
    )
    await connection.ended(PROMPT_MS_MAX)
    expect([[200, 400], [200], []]).toContainEqual(connection.statuses)
  })

  it(`The server answers while ${IDLE} connections say nothing, and all is given back when they leave`, async () => {
    const before = await server.figures()
    const idle = await Promise.all(Array.from({ length: IDLE }, () => RawConnection.to(server.url)))
    const startedAt = performance.now()
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200)
    expect(performance.now() - startedAt).toBeLessThan(PROMPT_MS_MAX)
    // A connection is open for its client before the server has accepted it.
    await until(
      'the server holds the connections',
      PROMPT_MS_MAX,
      async () => (await server.figures()).resources - before.resources > IDLE / 2,
    )
    for (const connection of idle) connection.drop()
    await until(
      'the connections are gone',
      GONE_MS_MAX,
      async () => (await server.figures()).resources < before.resources + 50,
    )
    const after = await server.figures()
    expect(after.residentBytes - before.residentBytes).toBeLessThan(GROWTH_BYTES_MAX)
  })

  it('The raw connections left the server running, without a line of complaint, and able to stop', async () => {
    expect(server.isRunning).toBe(true)
    expect(server.complaints).toEqual([])
    expect(await server.stop()).toBe(0)
    expect(server.complaints).toEqual([])
  })
})
