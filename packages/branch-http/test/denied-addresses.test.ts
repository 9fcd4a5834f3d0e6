import { once } from 'node:events'
import { BlockList, createServer, type Server } from 'node:net'
import type { TargetPolicy } from '@counterstep/branch-http/targets'
import { classifyAddress, targetPolicy } from '@counterstep/branch-http/targets'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fixedLookup } from './fixed-lookup.ts'
import { buildCall, serveHttp } from './hostile-server.ts'
import { testCaller } from './test-caller.ts'

const DENIED = { result: 'unknown', error: 'denied-address' }

/**
 * Addresses of this machine play the others, since no test dials further: 127.0.0.1 is public, 127.0.0.2 metadata,
 * 127.0.0.3 loopback, 127.0.0.4 private.
 */
const PARTS = new Map([
  ['127.0.0.1', 'public'],
  ['127.0.0.2', 'never'],
  ['127.0.0.3', 'loopback'],
  ['127.0.0.4', 'private'],
] as const)
const classify = (address: string) => PARTS.get(address as '127.0.0.1') ?? classifyAddress(address)

const free = targetPolicy({ services: [], allowed: [], others: 'any', isLocal: false }, classify)
/** This policy has only the rules for connections: every URL passes the check before. */
const policy: TargetPolicy = {
  check: () => undefined,
  resolve: (url) => new URL(url),
  mayReach: (hostname, address) => free.mayReach(hostname, address),
}

/** Serves all of 127.0.0.0/8 at one port, and counts the connections. */
async function everywhere(): Promise<{ readonly port: number; readonly connections: () => number }> {
  let connections = 0
  const server: Server = createServer((socket) => {
    connections++
    socket.on('error', () => socket.destroy())
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'))
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: address.port, connections: () => connections }
}

describe('S3: a call', () => {
  for (const address of ['127.0.0.2', '127.0.0.3']) {
    it(`A call to the denied address ${address} makes no connection`, async () => {
      const server = await everywhere()
      const caller = testCaller({ targets: policy })
      expect(await caller.call(buildCall(`http://${address}:${server.port}/`))).toEqual(DENIED)
      expect(server.connections()).toBe(0)
      // The same server is reached on an address that is not denied, so the test can fail.
      const good = await caller.call(buildCall(`http://127.0.0.1:${server.port}/`))
      expect([good.result, server.connections()]).toEqual(['success', 1])
    })

    it(`A call to a name that also has ${address} makes no connection`, async () => {
      const server = await everywhere()
      const lookup = fixedLookup({ 'bank.test': ['127.0.0.1', address] })
      const caller = testCaller({ targets: policy, lookup })
      expect(await caller.call(buildCall(`http://bank.test:${server.port}/`))).toEqual(DENIED)
      expect(server.connections()).toBe(0)
    })

    it(`A call to a name that moves to ${address} and back is made only while the name is elsewhere`, async () => {
      const server = await everywhere()
      let asked = 0
      const lookup = fixedLookup({ 'bank.test': () => [asked++ % 2 === 0 ? '127.0.0.1' : address] })
      const caller = testCaller({ targets: policy, lookup })
      const url = `http://bank.test:${server.port}/`
      const errors: unknown[] = []
      // The server closes after each answer, so each call connects anew.
      for (let n = 0; n < 8; n++) errors.push((await caller.call(buildCall(url))).error)
      expect(errors.filter((error) => error === 'denied-address')).toHaveLength(4)
      expect(server.connections()).toBe(4)
    })
  }

  it('A call to a name is made to the address that was checked: there is no second look-up', async () => {
    const server = await everywhere()
    let asked = 0
    const lookup = fixedLookup({ 'bank.test': () => [asked++ === 0 ? '127.0.0.1' : '127.0.0.2'] })
    const caller = testCaller({ targets: policy, lookup })
    expect((await caller.call(buildCall(`http://bank.test:${server.port}/`))).result).toBe('success')
    expect([asked, server.connections()]).toEqual([1, 1])
  })

  it('A call to localhost is made by the look-up of the system, where no other is configured', async () => {
    const server = await serveHttp((_request, response) => response.end())
    const answer = await testCaller().call(buildCall(`http://localhost:${server.port}/`))
    expect(answer.result).toBe('success')
  })

  it('A call to a private address is made if the rules allow it', async () => {
    const server = await everywhere()
    const caller = testCaller({ targets: policy, lookup: fixedLookup({ 'bank.test': ['127.0.0.4'] }) })
    expect((await caller.call(buildCall(`http://bank.test:${server.port}/`))).result).toBe('success')
    const none = { ...policy, mayReach: () => false }
    const strict = testCaller({ targets: none, lookup: fixedLookup({ 'bank.test': ['127.0.0.4'] }) })
    expect(await strict.call(buildCall(`http://bank.test:${server.port}/`))).toEqual(DENIED)
  })

  for (const protocol of ['http', 'https']) {
    it(`A call by ${protocol} sends nothing where the connected address proves to be denied after all`, async () => {
      let bytes = 0
      const server = createServer((socket) => {
        socket.on('data', (chunk) => {
          bytes += chunk.length
        })
        socket.on('error', () => socket.destroy())
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      onTestFinished(() => {
        server.close()
      })
      const closed = new Promise<void>((resolve) => {
        server.on('connection', (socket) => socket.on('close', () => resolve()))
      })
      const address = server.address()
      if (address === null || typeof address === 'string') throw new Error('no port')
      let asked = 0
      // Only the first check passes, so that the connected address seems to differ from the one that was checked.
      const targets = { ...policy, mayReach: () => ++asked === 1 }
      const caller = testCaller({ targets, lookup: fixedLookup({ 'bank.test': ['127.0.0.1'] }) })
      const answer = await caller.call(buildCall(`${protocol}://bank.test:${address.port}/`))
      await closed
      expect([answer, asked, bytes]).toEqual([DENIED, 2, 0])
    })
  }

  it('A call on an open connection is not checked again', async () => {
    const server = await serveHttp((_request, response) => response.end())
    let asked = 0
    const targets = {
      ...policy,
      mayReach: () => {
        asked++
        return true
      },
    }
    const caller = testCaller({ targets, connectionsPerOriginMax: 1 })
    for (let n = 0; n < 20; n++) await caller.call(buildCall(server.url))
    expect([server.countAccepted(), asked]).toEqual([1, 2])
  })
})

describe('S3: a call to a range of addresses', () => {
  const addresses = new BlockList()
  addresses.addSubnet('127.0.0.0', 30)
  // The reader of the configuration takes no loopback range; here its addresses play private ones and metadata.
  const range = { type: 'range', protocol: 'http:', port: '*', family: 'ipv4', addresses } as const
  const classifyAsPrivate = (address: string) => (address === '127.0.0.1' ? 'private' : classify(address))
  const ranged = targetPolicy(
    { services: [], allowed: [range], others: 'none', isLocal: false },
    classifyAsPrivate,
  )
  const onlyAtConnect = { ...policy, mayReach: ranged.mayReach.bind(ranged) }

  it('A call to a listed range is made to an address in it, at whatever port', async () => {
    const server = await everywhere()
    const answer = await testCaller({ targets: ranged }).call(buildCall(`http://127.0.0.1:${server.port}/`))
    expect([answer.result, server.connections()]).toEqual(['success', 1])
  })

  for (const [what, host] of [
    ['an address that is never called, though it is in the range', '127.0.0.2'],
    ['this machine, though it is in the range', '127.0.0.3'],
    ['an address beyond the range', '127.0.0.4'],
    ['a name that resolves into the range', 'bank.test'],
  ] as const) {
    it(`A call to ${what} makes no connection`, async () => {
      const server = await everywhere()
      const lookup = fixedLookup({ 'bank.test': ['127.0.0.1'] })
      const call = buildCall(`http://${host}:${server.port}/`)
      const stored = await testCaller({ targets: ranged, lookup }).call(call)
      expect(stored).toEqual({ result: 'unknown', error: 'denied-target' })
      expect(await testCaller({ targets: onlyAtConnect, lookup }).call(call)).toEqual(DENIED)
      expect(server.connections()).toBe(0)
    })
  }

  it('A mutant calls a name when it forgets that a range lists addresses only', async () => {
    const server = await everywhere()
    const targets = {
      ...onlyAtConnect,
      mayReach: (_hostname: string, address: string) => addresses.check(address),
    }
    const caller = testCaller({ targets, lookup: fixedLookup({ 'bank.test': ['127.0.0.1'] }) })
    expect((await caller.call(buildCall(`http://bank.test:${server.port}/`))).result).toBe('success')
  })
})

describe('mutants of S3', () => {
  const everywhereGoes: TargetPolicy = { ...policy, mayReach: () => true }

  it('A mutant without the check of addresses calls what is denied above', async () => {
    const server = await everywhere()
    const lookup = fixedLookup({ 'bank.test': ['127.0.0.2'] })
    const caller = testCaller({ targets: everywhereGoes, lookup })
    for (const host of ['127.0.0.2', '127.0.0.3', 'bank.test'])
      expect((await caller.call(buildCall(`http://${host}:${server.port}/`))).result).toBe('success')
    expect(server.connections()).toBe(3)
  })

  it('A mutant that checks names alone calls an address in place of a name', async () => {
    const server = await everywhere()
    const mayReach = (hostname: string, address: string) =>
      hostname === address || policy.mayReach(hostname, address)
    const lookup = fixedLookup({ 'bank.test': ['127.0.0.2'] })
    const caller = testCaller({ targets: { ...policy, mayReach }, lookup })
    expect((await caller.call(buildCall(`http://127.0.0.2:${server.port}/`))).result).toBe('success')
    expect(await caller.call(buildCall(`http://bank.test:${server.port}/`))).toEqual(DENIED)
  })
})

describe('S1: a call to a stored URL that the rules no longer allow', () => {
  for (const [url, error] of [
    ['https://bank.test/', 'denied-target'],
    ['gone:/debit', 'denied-target'],
    ['http://0x7f.1/', 'bad-url'],
    // The transaction was stored before such a query was refused (S39).
    ['http://127.0.0.1:9/debit?[gid]=victim', 'bad-url'],
  ]) {
    it(`A call that was stored with a URL that is no longer allowed is not made: ${url}`, async () => {
      expect(await testCaller().call(buildCall(url ?? ''))).toEqual({ result: 'unknown', error })
    })
  }
})

describe('S1: a call to a named service', () => {
  it('A call to a named service goes to its origin, below its base, with the query', async () => {
    const paths: string[] = []
    const server = await serveHttp((request, response) => {
      paths.push(request.url ?? '')
      response.end()
    })
    const service = { name: 'bank', origin: server.url, hostname: '127.0.0.1', base: '/api' }
    const targets = targetPolicy({ services: [service], allowed: [], others: 'none', isLocal: false })
    expect((await testCaller({ targets }).call(buildCall('bank:/debit?x=1'))).result).toBe('success')
    expect(paths).toEqual([expect.stringMatching(/^\/api\/debit\?gid=gid-1&.*&x=1$/)])
  })
})
