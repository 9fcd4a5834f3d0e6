// A branch service that does nothing: 200 to everything, or, while it holds, no answer at all. Over the channel it is
// told to hold and to release, and tells its calls.
import { createServer, type ServerResponse } from 'node:http'
import type { BranchCalls, BranchQuestion } from '../harness/branch-calls.ts'
import { announce } from './announce.ts'

const ANSWER = '{"ok":true}'
const HEADERS = { 'content-type': 'application/json', 'content-length': ANSWER.length }

const held: ServerResponse[] = []
let isHolding = false
let calls = 0
let firstAt: number | null = null
let lastAt: number | null = null

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    if (isHolding) held.push(response)
    else answer(response)
  })
})

function answer(response: ServerResponse): void {
  calls += 1
  lastAt = Date.now()
  firstAt ??= lastAt
  response.writeHead(200, HEADERS)
  response.end(ANSWER)
}

process.on('message', (question: BranchQuestion) => {
  switch (question.type) {
    case 'hold':
      isHolding = true
      break
    case 'release':
      isHolding = false
      for (const response of held.splice(0)) if (!response.destroyed) answer(response)
      break
    case 'count':
      break
  }
  process.send?.({ calls, firstAt, lastAt, held: held.length } satisfies BranchCalls)
  if (question.type === 'count' && question.thenForget) {
    calls = 0
    firstAt = null
    lastAt = null
  }
})

// No connection may be closed for idleness between two rounds.
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => announce(server.address()))
process.on('SIGTERM', () => process.exit(0))
