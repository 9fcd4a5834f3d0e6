import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { httpBranchCaller } from '@counterstep/branch-http'
import type { BranchAnswer } from '@counterstep/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fixedLookup } from './fixed-lookup.ts'
import { buildCall, serveBytes, serveHttp } from './hostile-server.ts'
import { testCaller } from './test-caller.ts'

const run = promisify(execFile)

describe('connections', () => {
  it('A connection is used again, one call after the other', async () => {
    const server = await serveHttp((_request, response) => response.end('ok'))
    const caller = testCaller({ connectionsPerOriginMax: 1 })
    for (let n = 0; n < 50; n++) await caller.call(buildCall(`${server.url}/?n=${n}`))
    expect(server.countAccepted()).toBe(1)
  })

  it('A caller that calls again at once has two connections at most', async () => {
    const server = await serveHttp((_request, response) => response.end('ok'))
    const caller = testCaller()
    for (let n = 0; n < 50; n++) await caller.call(buildCall(server.url))
    expect(server.countAccepted()).toBeLessThanOrEqual(2)
  })

  it('A connection is used again after an error status and after an answer with a long body', async () => {
    let calls = 0
    const server = await serveHttp((_request, response) => {
      calls++
      response.statusCode = calls % 2 === 0 ? 500 : 200
      response.end('x'.repeat(100_000))
    })
    const caller = testCaller({ connectionsPerOriginMax: 1 })
    for (let n = 0; n < 10; n++) await caller.call(buildCall(server.url))
    expect(server.countAccepted()).toBe(1)
  })

  it('There are never more connections than the bound, and waiting calls are served in order', async () => {
    const answers: ServerResponse[] = []
    const order: string[] = []
    let inFlightMax = 0
    let inFlight = 0
    let arrived = (): void => undefined
    const server = await serveHttp((request, response) => {
      inFlight++
      inFlightMax = Math.max(inFlightMax, inFlight)
      order.push(new URL(request.url ?? '', 'http://x').searchParams.get('gid') ?? '')
      answers.push(response)
      arrived()
    })
    const caller = testCaller({ connectionsPerOriginMax: 3 })
    const ids = Array.from({ length: 30 }, (_, n) => `gid-${n}`)
    const calls = Promise.all(ids.map((id) => caller.call(buildCall(server.url, { id }))))
    for (let served = 0; served < ids.length; served++) {
      if (answers.length === 0) {
        await new Promise<void>((resolve) => {
          arrived = resolve
        })
      }
      inFlight--
      answers.shift()?.end()
    }
    expect((await calls).every((answer) => answer.result === 'success')).toBe(true)
    expect(inFlightMax).toBeLessThanOrEqual(3)
    expect(server.countAccepted()).toBeLessThanOrEqual(3)
    // Three connections race, and each of them keeps the order.
    expect(order.slice(3).every((id, at) => Math.abs(Number(id.slice(4)) - (at + 3)) <= 3)).toBe(true)
  })

  it('One call more than may wait is refused as busy', async () => {
    const server = await serveHttp(() => undefined)
    const caller = httpBranchCaller({ connectionsPerOriginMax: 1, queuedPerOriginMax: 1 })
    const kept = [caller.call(buildCall(server.url)), caller.call(buildCall(server.url))]
    expect(await caller.call(buildCall(server.url))).toEqual({ result: 'unknown', error: 'busy' })
    await caller.close()
    for (const answer of await Promise.all(kept)) expect(answer.error).toBe('closed')
  })

  it('A connection that rests after an answer takes no place from the calls that wait', async () => {
    const server = await serveHttp((_request, response) => response.end())
    const caller = testCaller({ queuedPerOriginMax: 1 })
    const twice = async () => {
      await caller.call(buildCall(server.url))
      return caller.call(buildCall(server.url))
    }
    const answers = await Promise.all([twice(), twice(), twice()])
    expect(answers.map(({ result }) => result)).toEqual(['success', 'success', 'success'])
  })

  it('A call that times out gives its place to one that waits', async () => {
    let calls = 0
    const server = await serveHttp((_request, response) => {
      if (++calls > 1) response.end()
    })
    const caller = testCaller({ connectionsPerOriginMax: 1 })
    const hung = caller.call(buildCall(server.url, { timeoutMs: 50 }))
    const next = caller.call(buildCall(server.url))
    expect((await hung).error).toBe('timeout')
    expect((await next).result).toBe('success')
  })

  it('A connection that the other side has closed is made again', async () => {
    const server = await serveBytes((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
    const caller = testCaller()
    for (let n = 1; n <= 5; n++) {
      expect((await caller.call(buildCall(server.url))).result).toBe('success')
      await server.untilClosed(n)
    }
    expect(server.countAccepted()).toBe(5)
  })

  it('An idle connection is closed after its time, or before the other side closes it', async () => {
    for (const [hint, keepAliveMs] of [
      ['', 30],
      ['keep-alive: timeout=1\r\n', 60_000],
    ] as const) {
      const server = await serveBytes((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${hint}content-length: 0\r\n\r\n`)
      })
      const caller = testCaller({ keepAliveMs })
      expect((await caller.call(buildCall(server.url))).result).toBe('success')
      await server.untilClosed(1)
      expect((await caller.call(buildCall(server.url))).result).toBe('success')
      expect(server.countAccepted()).toBe(2)
    }
  })

  it('A connection with bytes that were not asked for ends, and no later call takes them for its answer', async () => {
    const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
    const unasked = 'HTTP/1.1 409 Conflict\r\ncontent-length: 0\r\n\r\n'
    for (const later of [false, true]) {
      const server = await serveBytes((socket) => {
        if (later) socket.write(ok, () => socket.write(unasked))
        else socket.write(ok + unasked)
      })
      const caller = testCaller()
      for (let n = 1; n <= 20; n++) {
        expect((await caller.call(buildCall(server.url))).result).toBe('success')
        await server.untilClosed(n)
      }
    }
  })

  it('A connection that was answered before the request was read is not used again', async () => {
    const server = await serveBytes((socket) => {
      socket.pause()
      socket.write('HTTP/1.1 409 Conflict\r\ncontent-length: 0\r\n\r\n')
    })
    const caller = testCaller()
    const body = 'x'.repeat(16 * 1024 * 1024)
    for (let n = 1; n <= 2; n++) {
      expect((await caller.call(buildCall(server.url, { body }))).result).toBe('failure')
      expect(server.countAccepted()).toBe(n)
    }
  })

  it('A call whose connection dies is not sent again, whatever its method', async () => {
    let requests = 0
    const server = await serveHttp((request, response) => {
      requests++
      if (requests % 2 === 0) request.socket.resetAndDestroy()
      else response.end()
    })
    const caller = testCaller({ connectionsPerOriginMax: 1 })
    const answers: unknown[] = []
    for (const method of ['POST', 'POST', 'GET', 'GET'] as const) {
      const { error, result } = await caller.call(buildCall(server.url, { method }))
      answers.push(error ?? result)
    }
    expect([requests, answers]).toEqual([4, ['success', 'reset', 'success', 'reset']])
  })

  it('An idle connection does not keep the process alive, and a call does', async () => {
    const server = await serveHttp((request, response) => {
      request.resume()
      setTimeout(() => response.end('late'), 50)
    })
    const program = `
      import { httpBranchCaller } from ${JSON.stringify(import.meta.resolve('@counterstep/branch-http'))}
      const call = ${JSON.stringify(buildCall(server.url))}
      httpBranchCaller({ keepAliveMs: 600_000 }).call(call).then(({ result }) => console.log(result))`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program])
    expect(stdout).toBe('success\n')
  })

  it('A branch that refuses connections is tried again by the next call', async () => {
    const caller = testCaller()
    const url = 'http://127.0.0.1:1/'
    for (let n = 0; n < 5; n++) expect((await caller.call(buildCall(url))).error).toBe('refused')
    const burst = await Promise.all(Array.from({ length: 200 }, () => caller.call(buildCall(url))))
    expect(new Set(burst.map((answer) => answer.error))).toEqual(new Set(['refused']))
  })
})

describe('a busy connection', () => {
  /** Serves one port on two addresses of this machine, each with a server that answers with its address. */
  async function serveTwice(): Promise<{ readonly port: number; readonly accepted: () => number[] }> {
    const accepted = [0, 0]
    const servers = ['127.0.0.1', '127.0.0.5'].map((address, at) => {
      const server = createServer((_request, response) => response.end(address))
      server.on('connection', () => {
        accepted[at] = (accepted[at] ?? 0) + 1
      })
      onTestFinished(() => {
        server.closeAllConnections()
        server.close()
      })
      return { server, address }
    })
    let port = 0
    for (const { server, address } of servers) {
      server.listen(port, address)
      await once(server, 'listening')
      port = (server.address() as AddressInfo).port
    }
    return { port, accepted: () => accepted }
  }

  const targets = { check: () => undefined, resolve: (url: string) => new URL(url), mayReach: () => true }

  it('A busy connection is replaced at its greatest age, so that a name that has moved is followed and no call fails', async () => {
    const { port } = await serveTwice()
    let address = '127.0.0.1'
    const lookup = fixedLookup({ 'bank.test': () => [address] })
    const caller = testCaller({ targets, lookup, connectionAgeMsMax: 50, connectionsPerOriginMax: 4 })
    const url = `http://bank.test:${port}/`
    const results = new Set<string | undefined>()
    const callUntil = async (wanted: string): Promise<void> => {
      let seen: string | undefined
      for (let calls = 0; seen !== wanted && calls < 20_000; calls++) {
        const { result, error, excerpt } = await caller.call(buildCall(url))
        results.add(error ?? result)
        seen = excerpt
      }
      expect(seen).toBe(wanted)
    }
    await Promise.all(Array.from({ length: 4 }, () => callUntil('127.0.0.1')))
    address = '127.0.0.5'
    await Promise.all(Array.from({ length: 8 }, () => callUntil('127.0.0.5')))
    expect(results).toEqual(new Set(['success']))
  })

  it('A connection ends at its greatest age together with the call that it carries, and no earlier', async () => {
    const answers: ServerResponse[] = []
    const server = await serveHttp((_request, response) => {
      answers.push(response)
      if (answers.length > 1) response.end('new')
    })
    const caller = testCaller({ connectionAgeMsMax: 1, connectionsPerOriginMax: 2 })
    const slow = caller.call(buildCall(server.url))
    while (answers.length === 0) await new Promise((resolve) => setImmediate(resolve))
    expect((await caller.call(buildCall(server.url))).excerpt).toBe('new')
    answers[0]?.end('slow')
    expect((await slow).excerpt).toBe('slow')
    await server.untilClosed(1)
  })

  it('A connection ends with its caller, at whatever age', async () => {
    let arrived = 0
    const server = await serveHttp(() => arrived++)
    const caller = httpBranchCaller({ connectionAgeMsMax: 1 })
    const calls: Promise<BranchAnswer>[] = []
    for (let wanted = 1; wanted <= 3; wanted++) {
      calls.push(caller.call(buildCall(server.url)))
      while (arrived < wanted) await new Promise((resolve) => setTimeout(resolve, 2))
    }
    await caller.close()
    for (const answer of await Promise.all(calls)) expect(answer.error).toBe('closed')
    await server.untilClosed(3)
  })

  it('A connection is kept below its greatest age although the name has moved', async () => {
    const { port, accepted } = await serveTwice()
    let address = '127.0.0.1'
    const lookup = fixedLookup({ 'bank.test': () => [address] })
    const caller = testCaller({ targets, lookup, connectionAgeMsMax: 600_000, connectionsPerOriginMax: 1 })
    for (let n = 0; n < 50; n++) {
      expect((await caller.call(buildCall(`http://bank.test:${port}/`))).excerpt).toBe('127.0.0.1')
      address = '127.0.0.5'
    }
    expect(accepted()).toEqual([1, 0])
  })
})

describe('origins', () => {
  it('The number of origins is bounded: the one idle longest is closed for a new one', async () => {
    const servers = await Promise.all(
      Array.from({ length: 12 }, () => serveHttp((_request, response) => response.end())),
    )
    const caller = testCaller({ originsMax: 4 })
    for (const server of servers) await caller.call(buildCall(server.url))
    await Promise.all(servers.slice(0, 8).map((server) => server.untilClosed(1)))
    expect(servers.slice(8).map((server) => server.countOpen())).toEqual([1, 1, 1, 1])
    // A URL that was parsed before its origin was closed finds a new one.
    expect((await caller.call(buildCall(servers[0]?.url ?? ''))).result).toBe('success')
  })

  it('An origin with a call that waits for its resting connection is not closed', async () => {
    const [server, other] = await Promise.all(
      Array.from({ length: 2 }, () => serveHttp((_request, response) => response.end())),
    )
    const caller = testCaller({ originsMax: 1 })
    await caller.call(buildCall(server?.url ?? ''))
    const calls = [caller.call(buildCall(server?.url ?? '')), caller.call(buildCall(other?.url ?? ''))]
    expect(await Promise.all(calls)).toEqual([
      { result: 'success', statusCode: 200 },
      { result: 'unknown', error: 'busy' },
    ])
  })

  it('An origin with calls in flight is not closed, and a call to a new one is answered as busy', async () => {
    const hanging = await serveHttp(() => undefined)
    const other = await serveHttp((_request, response) => response.end())
    const caller = httpBranchCaller({ originsMax: 1 })
    const kept = caller.call(buildCall(hanging.url))
    expect(await caller.call(buildCall(other.url))).toEqual({ result: 'unknown', error: 'busy' })
    await caller.close()
    expect((await kept).error).toBe('closed')
  })
})

describe('close', () => {
  it('A close ends what is in flight and what waits as closed, and leaves no connection', async () => {
    let arrived = (): void => undefined
    const bothArrived = new Promise<void>((resolve) => {
      let left = 2
      arrived = () => {
        left--
        if (left === 0) resolve()
      }
    })
    const server = await serveHttp(() => arrived())
    const caller = httpBranchCaller({ connectionsPerOriginMax: 2 })
    const calls = Array.from({ length: 5 }, () => caller.call(buildCall(server.url)))
    await bothArrived
    await caller.close()
    for (const answer of await Promise.all(calls)) {
      expect(answer).toEqual({ result: 'unknown', error: 'closed' })
    }
    await server.untilClosed(2)
    expect(server.countOpen()).toBe(0)
  })

  it('A close ends a call that is still connecting', async () => {
    const server = await serveBytes((socket) => socket.resume())
    const caller = httpBranchCaller()
    const answer = caller.call(buildCall(`https://127.0.0.1:${server.port}/`))
    await caller.close()
    expect(await answer).toEqual({ result: 'unknown', error: 'closed' })
  })

  it('A caller may be closed twice, and every later call ends as closed', async () => {
    const caller = httpBranchCaller()
    await Promise.all([caller.close(), caller.close()])
    await caller.close()
    expect(await caller.call(buildCall('http://127.0.0.1:1/'))).toEqual({
      result: 'unknown',
      error: 'closed',
    })
  })
})

describe('a wrong configuration', () => {
  for (const options of [
    { connectionsPerOriginMax: 0 },
    { originsMax: -1 },
    { connectTimeoutMs: Number.NaN },
    { answerBodyBytesMax: 1.5 },
  ]) {
    it(`A wrong configuration fails at construction: ${Object.keys(options).join()}`, () => {
      expect(() => httpBranchCaller(options)).toThrow(RangeError)
    })
  }
})
