import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { answerText, BODY_BYTES_MAX, bodiesIn, call, hotServer, post } from './hot-server.ts'

const TIMEOUT = { timeout: 10_000 }

function readers(bed: { readonly asked: readonly { readonly reader: string }[] }): string {
  return bed.asked.map(({ reader }) => reader).join(' ')
}

describe('which requests are hot', () => {
  for (const [reader, title, bytes] of [
    ['hot', 'a plain one', post('a')],
    ['hot', 'one that says that the connection stays', post('a', 'Connection: Keep-Alive\r\n')],
    ['hot', 'one without a body', 'GET /hot HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['node', 'another path', post('a', '', '/cold')],
    ['node', 'a path with a query', post('a', '', '/hot?a=b')],
    ['node', 'another method', post('a').replace('POST', 'PUT')],
    ['node', 'HTTP/1.0', post('a').replace('1.1', '1.0')],
    ['node', 'a blank line before it', `\r\n${post('a')}`],
    ['node', 'a field of which there are two', post('a', 'X-A: 1\r\nX-A: 2\r\n')],
    [
      'node',
      'chunks',
      'POST /hot HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    ],
    ['node', 'a head of more than 8 KiB', post('a', `X-A: ${'a'.repeat(9_000)}\r\n`)],
    ['node', 'a body over the bound', post('a'.repeat(BODY_BYTES_MAX + 1))],
    ['hot', 'a body of the bound', post('a'.repeat(BODY_BYTES_MAX))],
  ] as const) {
    it(`${reader}: ${title}`, async () => {
      const bed = await hotServer()
      const caller = call(bed.port, bytes)
      await expect.poll(() => bodiesIn(caller.text()), TIMEOUT).toHaveLength(1)
      expect(readers(bed)).toBe(reader)
      expect(bodiesIn(caller.text())).toEqual([bed.asked[0]?.body])
    })
  }

  it('all, until one is not: that and all after it are of Node', async () => {
    const bed = await hotServer()
    const { text, socket } = call(bed.port)
    for (const [i, bytes] of [post('a'), post('b'), post('c', '', '/cold'), post('d')].entries()) {
      socket.write(bytes)
      await expect.poll(() => bodiesIn(text()), TIMEOUT).toHaveLength(i + 1)
    }
    expect(readers(bed)).toBe('hot hot node node')
    expect(bodiesIn(text())).toEqual(['a', 'b', 'c', 'd'])
  })

  it('all the same when all of them come in one read', async () => {
    const bed = await hotServer()
    const { text } = call(bed.port, post('a') + post('b') + post('c', '', '/cold') + post('d'))
    await expect.poll(() => bodiesIn(text()), TIMEOUT).toHaveLength(4)
    expect(readers(bed)).toBe('hot hot node node')
    expect(bodiesIn(text())).toEqual(['a', 'b', 'c', 'd'])
  })

  it('one whose body comes byte by byte, but not one whose head does', async () => {
    const bed = await hotServer()
    const body = call(bed.port, post('abc').slice(0, -3))
    const head = call(bed.port, post('abc').slice(0, 9))
    for (const part of ['a', 'b', 'c']) {
      await sleep(20)
      body.socket.write(part)
    }
    head.socket.write(post('abc').slice(9))
    await expect.poll(() => bodiesIn(body.text() + head.text()), TIMEOUT).toEqual(['abc', 'abc'])
    expect(bed.asked.map(({ reader }) => reader).sort()).toEqual(['hot', 'node'])
  })
})

describe('requests behind one another', () => {
  it('are answered in their order, one when the last has its answer', async () => {
    const waiting: (() => void)[] = []
    const bed = await hotServer({}, ({ body }, response) =>
      waiting.push(() => answerText(response, `<${body}>`)),
    )
    const { text } = call(bed.port, ['a', 'b', 'c'].map((body) => post(body)).join(''))
    for (let answered = 0; answered < 3; answered++) {
      await expect.poll(() => waiting.length, TIMEOUT).toBe(answered + 1)
      waiting[answered]?.()
      await expect.poll(() => bodiesIn(text()), TIMEOUT).toHaveLength(answered + 1)
    }
    expect(bodiesIn(text())).toEqual(['a', 'b', 'c'])
  })

  it('may be more in one read than a stack could hold', async () => {
    const bed = await hotServer()
    const { text } = call(bed.port, 'GET /hot HTTP/1.1\r\nHost:x\r\n\r\n'.repeat(2_000))
    await expect.poll(() => bodiesIn(text()).length, { timeout: 20_000, interval: 200 }).toBe(2_000)
    expect(bed.asked.filter(({ reader }) => reader === 'hot').length).toBeGreaterThan(1_000)
  })

  it('are not read on while nobody reads the answers', async () => {
    const answer = `<${'a'.repeat(100_000)}>`
    const bed = await hotServer({}, (_asked, response) => answerText(response, answer))
    const { socket, text } = call(bed.port)
    socket.pause()
    socket.write(post('a').repeat(2_000))
    let before = -1
    // What the kernel takes is not ours to say; that it ends is.
    while (before !== bed.asked.length || before === 0) {
      before = bed.asked.length
      await sleep(300)
    }
    expect(bed.asked.length).toBeLessThan(1_000)
    socket.resume()
    await expect
      .poll(() => text().length, { timeout: 20_000, interval: 200 })
      .toBeGreaterThan(2_000 * 100_000)
    expect(bed.asked).toHaveLength(2_000)
  })
})

describe('requests behind one that waits', () => {
  it('are left to the kernel but for a few', async () => {
    const bytes = post('a'.repeat(1_000))
    let own: Socket | undefined
    let heldMost = 0
    const bed = await hotServer({}, (_asked, response) => {
      const used = bed.asked.length * bytes.length
      heldMost = Math.max(heldMost, (own?.bytesRead ?? 0) - used)
      setImmediate(() => answerText(response, '<a>'))
    })
    bed.server.on('connection', (socket) => {
      own = socket
    })
    const { text } = call(bed.port, bytes.repeat(4_000))
    await expect.poll(() => bodiesIn(text()).length, { timeout: 20_000, interval: 200 }).toBe(4_000)
    expect(heldMost).toBeGreaterThan(0)
    // The bound and what one read brings, and the same once more in the stream.
    expect(heldMost).toBeLessThanOrEqual(4 * 64 * 1024)
  })
})

describe('a hot connection ends', () => {
  it('after an answer that says so, whatever came behind', async () => {
    const bed = await hotServer({}, (_asked, response) =>
      answerText(response, '<a>', { connection: 'close' }),
    )
    const text = await call(bed.port, post('a') + post('b')).ended
    expect(text).toMatch(/\r\nConnection: close\r\n/)
    expect(text).not.toMatch(/keep-alive/i)
    expect(bodiesIn(text)).toEqual(['a'])
    expect(bed.asked).toHaveLength(1)
  })

  it('after as many requests as it may carry', async () => {
    const bed = await hotServer({ limits: { requestsPerSocketMax: 3 } })
    const text = await call(bed.port, post('a').repeat(5)).ended
    expect(bodiesIn(text)).toEqual(['a', 'a', 'a'])
    expect(text.match(/Connection: close/g)).toHaveLength(1)
  })

  it('when nothing was asked any more: what had been asked is answered', async () => {
    let answer: () => void = () => undefined
    const bed = await hotServer({}, ({ body }, response) => {
      answer = () => answerText(response, `<${body}>`)
    })
    const caller = call(bed.port, post('a'))
    caller.socket.end()
    await expect.poll(() => bed.asked.length, TIMEOUT).toBe(1)
    await sleep(50)
    answer()
    const text = await caller.ended
    expect(bodiesIn(text)).toEqual(['a'])
    expect(text).toMatch(/Connection: close/)
  })

  it('with a fault when half a request is all that comes', async () => {
    const bed = await hotServer()
    const caller = call(bed.port, post('a') + post('bcd').slice(0, -1))
    caller.socket.end()
    const text = await caller.ended
    expect(bodiesIn(text)).toEqual(['a'])
    expect(text).toMatch(/HTTP\/1\.1 400 /)
    expect(bed.faults).toEqual(['HPE_INVALID_EOF_STATE'])
  })

  it('with a fault when what is left would be of Node, which takes over nothing that has ended', async () => {
    let answer: () => void = () => undefined
    const bed = await hotServer({}, ({ body }, response) => {
      answer = () => answerText(response, `<${body}>`)
    })
    let own: Socket | undefined
    bed.server.on('connection', (socket) => {
      own = socket
    })
    const caller = call(bed.port, post('a'))
    caller.socket.end(post('b', '', '/cold'))
    await expect.poll(() => own?.readableEnded, TIMEOUT).toBe(true)
    answer()
    const text = await caller.ended
    expect(bodiesIn(text)).toEqual(['a'])
    expect(text).toMatch(/HTTP\/1\.1 400 /)
    expect(bed.asked).toHaveLength(1)
  })

  it('without a word when line ends are all that is left', async () => {
    let answer: () => void = () => undefined
    const bed = await hotServer({}, ({ body }, response) => {
      answer = () => answerText(response, `<${body}>`)
    })
    let own: Socket | undefined
    bed.server.on('connection', (socket) => {
      own = socket
    })
    const caller = call(bed.port, post('a'))
    caller.socket.end('\r\n')
    await expect.poll(() => own?.readableEnded, TIMEOUT).toBe(true)
    answer()
    expect(bodiesIn(await caller.ended)).toEqual(['a'])
    expect(caller.text().match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(bed.faults).toEqual([])
  })

  it('with the request that a listener throws for: it is no fault of the answer before', async () => {
    const thrown: unknown[] = []
    const hear = (error: unknown) => thrown.push(error)
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException').on('uncaughtException', hear)
    onTestFinished(() => {
      process.off('uncaughtException', hear)
      for (const other of others) process.on('uncaughtException', other)
    })
    const answers: (() => void)[] = []
    const bed = await hotServer({}, (_asked, response) => answers.push(() => answerText(response, '<a>')))
    bed.server.on('request', () => {
      if (bed.asked.length === 2) throw new Error('of a listener')
    })
    const caller = call(bed.port, post('a') + post('b'))
    await expect.poll(() => answers.length, TIMEOUT).toBe(1)
    expect(answers[0]).not.toThrow()
    await caller.ended
    await expect.poll(() => thrown, TIMEOUT).toEqual([expect.objectContaining({ message: 'of a listener' })])
  })

  it('without a word when it is closed unasked', async () => {
    const bed = await hotServer()
    const caller = call(bed.port)
    caller.socket.end()
    expect(await caller.ended).toBe('')
    expect(bed.faults).toEqual([])
  })

  it('and whoever has gone before his answer is not missed', async () => {
    const heard: string[] = []
    let answer: () => void = () => undefined
    const bed = await hotServer({}, (_asked, response) => {
      response.on('finish', () => heard.push('finish'))
      response.on('close', () => heard.push('close of the answer'))
      answer = () => answerText(response, 'a')
    })
    bed.server.on('request', (request) => {
      request.on('close', () => heard.push(request.aborted ? 'abort' : 'close'))
    })
    const { socket } = call(bed.port, post('a') + post('b'))
    await expect.poll(() => bed.asked.length, TIMEOUT).toBe(1)
    const connections = promisify(bed.server.getConnections.bind(bed.server))
    expect(await connections()).toBe(1)
    socket.resetAndDestroy()
    await expect.poll(() => connections(), TIMEOUT).toBe(0)
    answer()
    expect(heard).toEqual(['abort', 'close of the answer'])
    expect(bed.asked).toHaveLength(1)
  })
})

describe('a hot connection that waits for longer than its limits ends:', () => {
  for (const [title, bytes, limits, faults] of [
    ['silent from the begin', '', { requestTimeoutMs: 100 }, ['ERR_HTTP_REQUEST_TIMEOUT']],
    ['within a body', post('abc').slice(0, -1), { requestTimeoutMs: 100 }, ['ERR_HTTP_REQUEST_TIMEOUT']],
    ['between requests', post('a'), { keepAliveTimeoutMs: 100 }, []],
    ['unanswered', post('never'), { idleTimeoutMs: 100 }, []],
  ] as const) {
    it(title, async () => {
      const bed = await hotServer({ limits }, ({ body }, response) => {
        if (body !== 'never') answerText(response, `<${body}>`)
      })
      await call(bed.port, bytes).ended
      expect(bed.faults).toEqual(faults)
    })
  }
})

describe('while its server closes, a hot connection', () => {
  it('that is idle goes at once; one with a request gets its answer, and then goes', async () => {
    const waiting: (() => void)[] = []
    const bed = await hotServer({}, ({ body }, response) => {
      const answer = () => answerText(response, `<${body}>`)
      if (body === 'later') waiting.push(answer)
      else answer()
    })
    const idle = call(bed.port, post('now'))
    const busy = call(bed.port, post('later'))
    await expect.poll(() => [bodiesIn(idle.text()).length, waiting.length], TIMEOUT).toEqual([1, 1])
    bed.server.close()
    await idle.ended
    expect(busy.text()).toBe('')
    waiting[0]?.()
    await expect.poll(() => bodiesIn(busy.text()), TIMEOUT).toEqual(['later'])
    const closed = once(bed.server, 'close')
    bed.server.closeIdleConnections()
    await Promise.all([busy.ended, closed])
  })

  it('goes whatever it does when all are to go, Node’s too', async () => {
    const bed = await hotServer({}, () => undefined)
    const callers = [call(bed.port), call(bed.port, post('a')), call(bed.port, post('a', '', '/cold'))]
    await expect.poll(() => bed.asked.length, TIMEOUT).toBe(2)
    const closed = once(bed.server, 'close')
    bed.server.close()
    bed.server.closeAllConnections()
    await Promise.all([closed, ...callers.map(({ ended }) => ended)])
  })
})

describe('an answer', () => {
  it('is told of by the events of Node’s: it has gone, and both are done with', async () => {
    const heard: string[] = []
    const bed = await hotServer({}, (_asked, response) => {
      for (const event of ['finish', 'close']) response.on(event, () => heard.push(event))
      response.once('finish', () => heard.push('finish, once'))
      answerText(response, 'a')
    })
    bed.server.prependListener('request', (request) => {
      request.on('close', () => heard.push('close of the request'))
    })
    const { text } = call(bed.port, post('a'))
    await expect.poll(() => text(), TIMEOUT).toContain('200 OK')
    expect(heard).toEqual(['finish', 'finish, once', 'close of the request', 'close'])
  })

  it('is one text: bytes are refused before anything is sent', async () => {
    const bed = await hotServer({}, (_asked, response) => {
      response.writeHead(200, { 'content-length': '2' })
      expect(() => response.end(Buffer.from('a'))).toThrow('a hot route answers with one text')
      response.end('ab')
    })
    const { text } = call(bed.port, post('a'))
    await expect.poll(() => text(), TIMEOUT).toMatch(/\r\n\r\nab$/)
  })

  it('is the same as Node’s, but for how names are written', async () => {
    const answers = {
      text: (response: Parameters<typeof answerText>[0]) => answerText(response, 'ä€', { 'x-a': '1' }),
      nothing: (response: Parameters<typeof answerText>[0]) => {
        response.writeHead(503, { 'content-length': '0', 'retry-after': '1' })
        response.end(null)
      },
      closing: (response: Parameters<typeof answerText>[0]) => {
        response.setHeader('Connection', 'close')
        answerText(response, 'a', { 'set-cookie': 'a=b' })
      },
      headless: (response: Parameters<typeof answerText>[0]) => {
        response.statusCode = 418
        response.setHeader('X-B', ['c', 'd'])
        response.removeHeader('x-none')
        response.end('€')
      },
    }
    for (const answer of Object.values(answers)) {
      const texts = []
      for (const isHot of [true, false]) {
        const bed = await hotServer({ isHot }, (_asked, response) => answer(response))
        const caller = call(bed.port, post('a'))
        await expect.poll(() => caller.text(), TIMEOUT).toContain('\r\n\r\n')
        expect(readers(bed)).toBe(isHot ? 'hot' : 'node')
        texts.push(
          caller
            .text()
            .replace(/Date: .*/, 'Date')
            .toLowerCase()
            .split('\r\n')
            .sort(),
        )
      }
      expect(texts[0]).toEqual(texts[1])
    }
  })

  it('is refused with a field that would break its head, as Node refuses it', async () => {
    for (const isHot of [true, false]) {
      const bed = await hotServer({ isHot }, (_asked, response) => {
        expect(() => response.writeHead(200, { 'x-a': undefined })).toThrow(
          expect.objectContaining({ code: 'ERR_HTTP_INVALID_HEADER_VALUE' }),
        )
        expect(() => response.writeHead(200, { 'x-a': 'a\r\nx-b: c' })).toThrow(
          expect.objectContaining({ code: 'ERR_INVALID_CHAR' }),
        )
        response.writeHead(204, {})
        expect(() => response.writeHead(204, {})).toThrow(
          expect.objectContaining({ code: 'ERR_HTTP_HEADERS_SENT' }),
        )
        response.end()
      })
      const caller = call(bed.port, post('a'))
      await expect.poll(() => caller.text(), TIMEOUT).toMatch(/^HTTP\/1\.1 204 /)
    }
  })
})

it('takes no limit of zero, which to Node would be none', async () => {
  await expect(hotServer({ limits: { idleTimeoutMs: 0 } })).rejects.toThrow('idleTimeoutMs must be above 0')
})
