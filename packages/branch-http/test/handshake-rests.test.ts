import { once } from 'node:events'
import { connect as connectTcp, createServer } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { connectChecked } from '../src/grpc/checked-socket.ts'
import { createGuardedConnector } from '../src/guarded-connector.ts'
import { HandshakeRests } from '../src/handshake-rests.ts'
import { HandshakingSocket } from '../src/paced-socket.ts'
import { ReadingTime } from '../src/reading-time.ts'
import { serveBytes } from './hostile-server.ts'

const ADDRESS = '203.0.113.1'
const COSTLY_MS = 60
const CHEAP_MS = 10

it('No handshake follows a costly one with that origin, nor with its address under another name', () => {
  const rests = new HandshakeRests()
  const [origin, other] = [
    rests.openOrigin('https://a.test', false),
    rests.openOrigin('https://b.test', false),
  ]
  const costly = origin.begin(ADDRESS)
  const waiting = other.begin(ADDRESS)
  expect(waiting?.mayGoOn).toBe(true)
  costly?.addMs(COSTLY_MS)
  expect([origin.begin('203.0.113.2'), other.begin(ADDRESS), waiting?.mayGoOn]).toEqual([
    undefined,
    undefined,
    false,
  ])
  // It goes on itself, since it may be an honest one in the pause of a garbage collection.
  expect(costly?.mayGoOn).toBe(true)
})

it('A handshake that ends well ends the rest that it began, and no other one', () => {
  const origin = new HandshakeRests().openOrigin('https://a.test', true)
  const [slow, costly, cheap] = [origin.begin(ADDRESS), origin.begin(ADDRESS), origin.begin(ADDRESS)]
  slow?.addMs(COSTLY_MS)
  slow?.succeed()
  expect(origin.begin(ADDRESS)).toBeDefined()
  costly?.addMs(COSTLY_MS)
  cheap?.addMs(CHEAP_MS)
  cheap?.succeed()
  expect(origin.begin(ADDRESS)).toBeUndefined()
  expect(slow?.mayGoOn).toBe(true)
})

it('A handshake that is slow by chance and ends well does not end the rest that another one has begun anew', () => {
  const origin = new HandshakeRests().openOrigin('https://a.test', false)
  const [chance, costly] = [origin.begin(ADDRESS), origin.begin(ADDRESS)]
  chance?.addMs(COSTLY_MS)
  costly?.addMs(COSTLY_MS)
  chance?.succeed()
  expect(origin.begin(ADDRESS)).toBeUndefined()
})

it('A listed service that shares its address with a costly one is connected to, and one that is not listed waits less long', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const rests = new HandshakeRests()
  const costly = rests.openOrigin('https://evil.test', false)
  const stranger = rests.openOrigin('https://stranger.test', false)
  costly.begin(ADDRESS)?.addMs(COSTLY_MS)
  expect(rests.openOrigin('https://listed.test', true).begin(ADDRESS)).toBeDefined()
  expect(stranger.begin('203.0.113.2')).toBeUndefined()
  vi.advanceTimersByTime(COSTLY_MS * 4)
  expect(stranger.begin('203.0.113.2')).toBeDefined()
  expect(costly.begin('203.0.113.2')).toBeUndefined()
  vi.advanceTimersByTime(COSTLY_MS * 96)
  expect(costly.begin(ADDRESS)).toBeDefined()
})

it('An origin that was trusted does not rest with all that are not listed, until a handshake of its own is costly', () => {
  const rests = new HandshakeRests()
  const [honest, evil] = ['https://honest.test', 'https://evil.test'].map((key) =>
    rests.openOrigin(key, false),
  )
  honest?.begin(ADDRESS)?.succeed()
  const underWay = honest?.begin(ADDRESS)
  evil?.begin('203.0.113.2')?.addMs(COSTLY_MS)
  expect(rests.openOrigin('https://new.test', false).begin('203.0.113.3')).toBeUndefined()
  expect([honest?.begin(ADDRESS)?.mayGoOn, underWay?.mayGoOn]).toEqual([true, true])
  underWay?.addMs(COSTLY_MS)
  expect(honest?.begin('203.0.113.4')).toBeUndefined()
})

it('A site that was costly is not trusted again for an hour, though its handshakes end well', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const rests = new HandshakeRests()
  const turncoat = rests.openOrigin('https://turncoat.test', false)
  const goesOn = () => {
    turncoat.begin(ADDRESS)?.succeed()
    rests.openOrigin('https://evil.test', false).begin('203.0.113.2')?.addMs(COSTLY_MS)
    return turncoat.begin(ADDRESS) !== undefined
  }
  expect(goesOn()).toBe(true)
  turncoat.begin(ADDRESS)?.addMs(COSTLY_MS)
  vi.advanceTimersByTime(3_500_000)
  expect(goesOn()).toBe(false)
  vi.advanceTimersByTime(100_000)
  expect(goesOn()).toBe(true)
})

it.each([
  ['a /48 of IPv6', ['2001:db8::1', '2001:db8:0:1::1'], '2001:db8:1::1'],
  [
    'a /48 in which addresses look like those of IPv4',
    ['2001:db8::5efe:cb00:7101', '2001:db8:0:1:0:5efe:cb00:7102'],
    ADDRESS,
  ],
  ['an address of IPv4', [ADDRESS], '203.0.113.9'],
  ['an address of IPv4 behind NAT64', ['64:ff9b::cb00:7101'], '64:ff9b::cb00:7102'],
  ['a mapped address of IPv4', ['::ffff:203.0.113.1'], '::ffff:203.0.113.2'],
])(
  'The site of %s loses its trust at once, whatever its names, and no other one does',
  (_what, addresses, other) => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const rests = new HandshakeRests()
    const open = (name: string) => rests.openOrigin(`https://${name}.test`, false)
    for (const address of [...addresses, other]) open(`at ${address}`).begin(address)?.succeed()
    open('costly')
      .begin(addresses[0] ?? '')
      ?.addMs(COSTLY_MS)
    // The address itself rests no more, and all that are not trusted rest by another one.
    vi.advanceTimersByTime(60_000)
    open('evil').begin('198.51.100.1')?.addMs(COSTLY_MS)
    expect(addresses.map((address) => open(`at ${address}`).begin(address))).toEqual(
      addresses.map(() => undefined),
    )
    expect(open(`at ${other}`).begin(other)).toBeDefined()
  },
)

it('A handshake that is slow by chance and ends well does not end the longer rest that another one has begun before', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const rests = new HandshakeRests()
  const origin = rests.openOrigin('https://a.test', false)
  const [first, chance] = [origin.begin(ADDRESS), origin.begin('203.0.113.2')]
  first?.succeed()
  const costly = origin.begin(ADDRESS)
  costly?.addMs(COSTLY_MS * 2)
  chance?.addMs(COSTLY_MS)
  chance?.succeed()
  expect(origin.begin('203.0.113.2')).toBeUndefined()
  vi.advanceTimersByTime(3_000_000)
  const later = origin.begin(ADDRESS)
  later?.addMs(COSTLY_MS)
  later?.succeed()
  rests.openOrigin('https://evil.test', false).begin('203.0.113.3')?.addMs(COSTLY_MS)
  expect(origin.begin(ADDRESS)).toBeUndefined()
})

it('A handshake that is slow by chance does not end the distrust that a costly one has come upon', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const rests = new HandshakeRests()
  const open = (name: string) => rests.openOrigin(`https://${name}.test`, false)
  const [address, another] = ['2001:db8::1', '2001:db8:0:1::1']
  open('honest').begin(address)?.succeed()
  const chance = open('chance').begin(address)
  const costly = open('costly').begin(another)
  chance?.addMs(COSTLY_MS)
  costly?.addMs(COSTLY_MS)
  chance?.succeed()
  vi.advanceTimersByTime(60_000)
  open('evil').begin('203.0.113.3')?.addMs(COSTLY_MS)
  expect(open('honest').begin(address)).toBeUndefined()
  vi.advanceTimersByTime(3_600_000)
  open('evil').begin('203.0.113.3')?.addMs(COSTLY_MS)
  expect(open('honest').begin(address)).toBeDefined()
})

it('Thousands of made-up names of one network do not push out the trust of others', () => {
  const rests = new HandshakeRests()
  const honest = rests.openOrigin('https://honest.test', false)
  honest.begin(ADDRESS)?.succeed()
  for (let n = 0; n < 20_000; n++)
    rests.openOrigin(`https://${n}.evil.test`, false).begin('203.0.113.2')?.succeed()
  rests.openOrigin('https://costly.test', false).begin('203.0.113.3')?.addMs(COSTLY_MS)
  expect(honest.begin(ADDRESS)?.mayGoOn).toBe(true)
})

it('Rests are remembered of a bounded number of origins and addresses, the newest of them', () => {
  const rests = new HandshakeRests()
  for (let n = 0; n < 20_000; n++)
    rests.openOrigin(`https://${n}.test`, true).begin(ADDRESS)?.addMs(COSTLY_MS)
  const isResting = (n: number) => rests.openOrigin(`https://${n}.test`, true).begin(ADDRESS) === undefined
  expect([isResting(0), isResting(3_615), isResting(3_616), isResting(19_999)]).toEqual([
    false,
    false,
    true,
    true,
  ])
})

for (const way of ['HTTPS', 'gRPC'] as const) {
  it(`A service that rests is sent no hello of TLS over ${way}`, async () => {
    let received = 0
    const server = await serveBytes((socket) => void socket.on('data', (bytes) => (received += bytes.length)))
    const { port } = new URL(server.url)
    const handshakes = new HandshakeRests().openOrigin('https://127.0.0.1', true)
    const costly = handshakes.begin('127.0.0.1')
    const reads = new ReadingTime(1).openOrigin()
    const options = {
      mayReach: () => true,
      lookup: () => undefined,
      connectTimeoutMs: 10_000,
      reads,
      handshakes,
    }
    const connect = (): Promise<Error | null | undefined> =>
      new Promise((resolve) => {
        if (way === 'gRPC') connectChecked('127.0.0.1', Number(port), { ...options, tls: {} }, resolve)
        else
          createGuardedConnector(options)({ hostname: '127.0.0.1', protocol: 'https:', port }, (...[error]) =>
            resolve(error),
          )
      })
    costly?.addMs(COSTLY_MS)
    expect(await connect()).toMatchObject({ code: 'COUNTERSTEP_COSTLY_HANDSHAKE' })
    await server.untilClosed(1)
    expect(received).toBe(0)
  })
}

it('A handshake that waits to be read ends without being read when another one is costly', async () => {
  const server = createServer((socket) => void socket.end('hello'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const handshakes = new HandshakeRests().openOrigin('https://127.0.0.1', true)
  const costly = handshakes.begin('127.0.0.1')
  const handshake = handshakes.begin('127.0.0.1')
  if (handshake === undefined) throw new Error('nothing was costly yet')
  const paced = new HandshakingSocket(
    connectTcp({ host: '127.0.0.1', port }),
    new ReadingTime(1).openOrigin(),
    handshake,
  )
  let received = 0
  costly?.addMs(COSTLY_MS)
  paced.on('data', (piece: Buffer) => (received += piece.length))
  const [error] = await once(paced, 'error').catch((thrown) => [thrown])
  expect([error.code, received]).toEqual(['COUNTERSTEP_COSTLY_HANDSHAKE', 0])
})
