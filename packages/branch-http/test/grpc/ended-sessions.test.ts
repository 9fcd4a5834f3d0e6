import { once } from 'node:events'
import { queryObjects } from 'node:v8'
import { expect, it, onTestFinished, vi } from 'vitest'
import { PacedSocket } from '../../src/paced-socket.ts'
import { serveBytes } from '../hostile-server.ts'
import { answerStatus, buildGrpcCall, openCaller, serveHttp2 } from './http2-service.ts'

const IDLE_MS = 30_000
const CALLS = 20

it('A connection that its service has ended with an error is not kept for the time that an idle one has', async () => {
  // A service that speaks HTTP/1 ends each at its first call.
  const { port } = await serveBytes((socket) => {
    socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n')
  })
  const caller = openCaller()
  const before = countConnections()
  for (let i = 0; i < CALLS; i++) {
    expect(await caller.call(buildGrpcCall(port))).toMatchObject({ result: 'unknown' })
  }
  await vi.waitFor(() => expect(countConnections()).toBeLessThanOrEqual(before + 1), 10_000)
})

it('A connection ends when it has had no calls for long, and not while it has one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const answers: (() => void)[] = []
  const { port, sessions } = await serveHttp2((stream) => answers.push(() => answerStatus(stream, 0)))
  const caller = openCaller()
  const call = caller.call(buildGrpcCall(port, { timeoutMs: 10 * IDLE_MS }))
  await vi.waitUntil(() => answers.length === 1)
  await vi.advanceTimersByTimeAsync(2 * IDLE_MS)
  answers[0]?.()
  expect(await call).toMatchObject({ result: 'success' })
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1_000)
  const [session] = sessions
  expect([sessions.size, session?.closed]).toEqual([1, false])
  const closed = once(session ?? process, 'close')
  await vi.advanceTimersByTimeAsync(1_000)
  await closed
  expect(sessions.size).toBe(0)
})

function countConnections(): number {
  return Number(queryObjects(PacedSocket))
}
