/** These faults happen before a request could be read: each on a port of its own. */
import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { type Certificate, selfSignedCertificate } from '@counterstep/test-servers/certificate'
import { listening } from './listening.ts'

export interface ConnectionBehaviour {
  readonly name: string
  readonly url: string
  /** Turns it into an ordinary branch. Absent: it never will be one. */
  readonly heal?: () => void
  close(): Promise<void>
}

/** Connections that get through are handed to `branches`. */
export interface ConnectionBehaviours {
  readonly all: readonly ConnectionBehaviour[]
  /** The certificate that a server must trust, so that a refused connection is refused for the reason that is meant. */
  readonly trusted: string
}

const ADDRESS = '127.0.0.1'
const DAY_MS = 24 * 3_600_000
/** The port of tcpmux, which is never in use, and which no test is given as a free port. */
const CLOSED_PORT = 1

export async function connectionBehaviours(branches: HttpServer): Promise<ConnectionBehaviours> {
  const valid = certificate(-DAY_MS, DAY_MS)
  const expired = certificate(-2 * DAY_MS, -DAY_MS)
  const early = certificate(DAY_MS, 2 * DAY_MS)
  const misnamed = certificate(-DAY_MS, DAY_MS, '192.0.2.1')
  const all = await Promise.all([
    onTcp('closes-on-accept', branches, (socket) => socket.destroy()),
    onTcp('resets-on-accept', branches, (socket) => socket.resetAndDestroy()),
    onTcp('never-reads', branches, (socket) => socket.pause()),
    onTcp('never-shakes-hands', undefined, (socket) => socket.resume(), 'https'),
    onTls('is-expired', branches, expired, valid),
    onTls('is-not-valid-yet', branches, early, valid),
    onTls('is-another', branches, misnamed, valid),
    onTls('is-trusted-by-nobody', branches, certificate(-DAY_MS, DAY_MS), valid),
    slowAccept(),
  ])
  const trusted = [valid, expired, early, misnamed].map(({ cert }) => cert).join('')
  return { all: [...all, ...NEVER_WELL], trusted }
}

const NEVER_WELL: readonly ConnectionBehaviour[] = [
  { name: 'refuses-connections', url: `http://${ADDRESS}:${CLOSED_PORT}`, close: () => Promise.resolve() },
  { name: 'has-no-name', url: 'http://nowhere.invalid', close: () => Promise.resolve() },
]

function certificate(fromMs: number, toMs: number, address = ADDRESS): Certificate {
  const now = Date.now()
  return selfSignedCertificate({
    validFrom: new Date(now + fromMs),
    validTo: new Date(now + toMs),
    address,
  })
}

/** A service without `branches` never gets well. */
async function onTcp(
  name: string,
  branches: HttpServer | undefined,
  act: (socket: Socket) => void,
  protocol: 'http' | 'https' = 'http',
): Promise<ConnectionBehaviour> {
  let isWell = false
  const server = createTcpServer((socket) => {
    if (isWell) branches?.emit('connection', socket)
    else act(socket)
  })
  const { port, close } = await listening(server)
  const heal = () => {
    isWell = true
  }
  return { name, url: `${protocol}://${ADDRESS}:${port}`, ...(branches === undefined ? {} : { heal }), close }
}

async function onTls(
  name: string,
  branches: HttpServer,
  shown: Certificate,
  valid: Certificate,
): Promise<ConnectionBehaviour> {
  const server = createTlsServer(shown, (socket) => branches.emit('connection', socket))
  const { port, close } = await listening(server)
  return {
    name: `certificate-${name}`,
    url: `https://${ADDRESS}:${port}`,
    heal: () => server.setSecureContext(valid),
    close,
  }
}

async function slowAccept(): Promise<ConnectionBehaviour> {
  const memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const wake = new Int32Array(memory)
  const worker = new Worker(new URL('./slow-accept-thread.ts', import.meta.url), { workerData: memory })
  const [port] = (await once(worker, 'message')) as [number]
  const heal = () => {
    Atomics.store(wake, 0, 1)
    Atomics.notify(wake, 0)
  }
  return {
    name: 'never-accepts',
    url: `http://${ADDRESS}:${port}`,
    heal,
    async close() {
      heal()
      await worker.terminate()
    },
  }
}
