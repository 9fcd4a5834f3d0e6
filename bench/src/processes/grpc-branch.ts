// A branch service over gRPC that does nothing: status OK and an empty message to every method. Over the channel it tells how
// many calls it has answered.
import { createServer, type ServerHttp2Stream } from 'node:http2'
import type { BranchCalls, BranchQuestion } from '../harness/branch-calls.ts'
import { announce } from './announce.ts'

const EMPTY_MESSAGE = Buffer.alloc(5)

let calls = 0
let firstAt: number | null = null
let lastAt: number | null = null

const server = createServer()
server.on('stream', (stream: ServerHttp2Stream) => {
  // A caller may give up, and then calls again.
  stream.on('error', () => undefined)
  stream.on('end', () => answer(stream))
  stream.resume()
})

function answer(stream: ServerHttp2Stream): void {
  if (stream.destroyed) return
  calls += 1
  lastAt = Date.now()
  firstAt ??= lastAt
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.end(EMPTY_MESSAGE)
}

process.on('message', (question: BranchQuestion) => {
  if (question.type !== 'count') throw new Error(`a branch over gRPC does not ${question.type}`)
  process.send?.({ calls, firstAt, lastAt, held: 0 } satisfies BranchCalls)
  if (question.thenForget) {
    calls = 0
    firstAt = null
    lastAt = null
  }
})

server.listen(0, '127.0.0.1', () => announce(server.address()))
process.on('SIGTERM', () => process.exit(0))
