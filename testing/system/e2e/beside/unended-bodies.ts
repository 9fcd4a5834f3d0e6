import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import type { Certificate } from '@counterstep/test-servers/certificate'

const MIB = 1024 * 1024
/** Node would refuse to keep more than 10 MB that wait to be sent. */
const SESSION_MB_MAX = 64

interface Flood {
  readonly port: number
  readonly certificate: Certificate
  /** The requests come from this address of the machine. */
  readonly from: string
  readonly sessions: number
  readonly streamsOfEach: number
  /** Each request announces so many bytes. */
  readonly bytes: number
}

/** Sends submits without a key, whose bodies lack their last ten bytes for ever. */
export class UnendedBodies {
  readonly #sessions: ClientHttp2Session[] = []
  /** The answers that have come so far. */
  readonly statuses: number[] = []

  static async begin(flood: Flood): Promise<UnendedBodies> {
    const bodies = new UnendedBodies()
    for (let each = 0; each < flood.sessions; each++) await bodies.#open(flood)
    return bodies
  }

  end(): void {
    for (const session of this.#sessions) session.destroy()
  }

  async #open({ port, certificate, from, streamsOfEach, bytes }: Flood): Promise<void> {
    const options = { ca: certificate.cert, localAddress: from, maxSessionMemory: SESSION_MB_MAX }
    const session = connect(`https://127.0.0.1:${port}`, options)
    this.#sessions.push(session)
    // The server has told by then how many streams it takes.
    await new Promise((resolve, reject) => {
      session.once('remoteSettings', resolve)
      session.once('error', reject)
    })
    // A refused body ends its stream, or its connection, with an error.
    session.on('error', () => undefined)
    for (let each = 0; each < streamsOfEach; each++) {
      const path = '/v1/transactions'
      const type = { 'content-type': 'application/json', 'content-length': bytes }
      const stream = session.request({ ':method': 'POST', ':path': path, ...type })
      stream.on('response', ({ ':status': status = 0 }) => this.statuses.push(status))
      stream.on('error', () => undefined)
      stream.resume()
      stream.write(' '.repeat(bytes - 10))
    }
  }
}

/** Reads how much memory the children of a process have. */
export function readChildrenMib(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  const bytes = children.map((child) => {
    const status = readFileSync(`/proc/${child}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
  })
  return bytes.reduce((sum, each) => sum + each, 0) / MIB
}
