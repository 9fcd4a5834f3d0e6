import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { GrpcCaller } from './grpc-caller.ts'
import type { GrpcLoadJob } from './grpc-load-job.ts'
import type { LoadResult } from './load-job.ts'
import { MeasuredPart } from './measured-part.ts'
import { encodeField } from './protobuf.ts'
import { uniqueText } from './unique-text.ts'

/** Clients of gRPC have one connection each; a few of them let a server use all of its threads. */
const CONNECTIONS_MAX = 4

/**
 * One warm-up and one measured part on the same connections, as over HTTP. Each caller sends its next message once it has the
 * answer to the last one, and at the end it waits for its last answer.
 */
export async function runGrpcLoad(job: GrpcLoadJob): Promise<LoadResult> {
  const { length, connections } = job
  const sessions = await openSessions(job.address, Math.min(CONNECTIONS_MAX, connections))
  const fields = Buffer.from(job.fields, 'base64')
  const startedAt = performance.now()
  const endAt = startedAt + (length.warmUpSeconds + length.seconds) * 1000
  const measured = new MeasuredPart(length, startedAt)
  const faults = { connectionErrors: 0, timeouts: 0, otherStatus: 0, otherBody: 0 }
  let unexpected: string | null = null

  const callInTurn = async (connection: number): Promise<void> => {
    const session = sessions[connection % sessions.length]
    if (session === undefined) throw new Error('there is no connection')
    const caller = new GrpcCaller(session, job.method)
    for (let request = 1; performance.now() < endAt; request += 1) {
      const unique = encodeField(job.uniqueField, uniqueText(job.unique, connection, request))
      const sentAt = performance.now()
      const outcome = await caller.call([unique, fields])
      const at = performance.now()
      if (outcome.type === 'none') {
        faults[outcome.reason] += 1
        unexpected ??= outcome.details
        return
      }
      if (outcome.status !== '0') {
        faults.otherStatus += 1
        unexpected ??= `grpc-status ${outcome.status}: ${outcome.message}`
      }
      measured.answered(at, at - sentAt)
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, index) => callInTurn(index + 1)))
  for (const session of sessions) session.close()
  return { answers: measured.answers, faults, unexpected, ...measured.result() }
}

async function openSessions(address: string, count: number): Promise<readonly ClientHttp2Session[]> {
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const session = connect(`http://${address}`)
      await once(session, 'connect')
      // The calls that it breaks tell of it.
      session.on('error', () => undefined)
      return session
    }),
  )
}
