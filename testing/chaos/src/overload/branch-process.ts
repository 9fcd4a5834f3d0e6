// A participant in a process of its own. Each answer takes ANSWER_MS in every case: the capacity of a run is then its
// calls in flight over that time. The paths under /undo/KIND are compensations that always fail, until they are healed.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BranchAnswer, BranchQuestion, CallsOfGid } from './branch-question.ts'

const ANSWER_MS = Number(process.argv[2])
const ACTIONS = ['/first', '/second', '/refuse']

const calls = new Map<string, [first: number, second: number, undone: number]>()
let isHealed = false
let isHanging = false
const unanswered: ServerResponse[] = []

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://branch')
  count(searchParams.get('gid') ?? '', pathname)
  request.resume()
  request.once('end', () => setTimeout(() => answer(pathname, response), ANSWER_MS))
})

function count(gid: string, pathname: string): void {
  const counts = calls.get(gid) ?? [0, 0, 0]
  calls.set(gid, counts)
  const action = ACTIONS.indexOf(pathname)
  if (action === 0) counts[0] += 1
  else if (action > 0) counts[1] += 1
  else counts[2] += 1
}

function answer(pathname: string, response: ServerResponse): void {
  if (isHanging) unanswered.push(response)
  else if (pathname === '/refuse') response.writeHead(409).end('{"ok":false}')
  else if (isHealed || !pathname.startsWith('/undo/')) response.end('{"ok":true}')
  else if (pathname === '/undo/refuse') response.writeHead(409).end('{"ok":false}')
  else if (pathname === '/undo/error') response.writeHead(500).end('{"ok":false}')
  else if (pathname === '/undo/reset') response.socket?.resetAndDestroy()
  // A call of /undo/hang gets no answer until its caller's time is over.
}

process.on('message', (question: BranchQuestion) => {
  if (question.type === 'heal') isHealed = true
  if (question.type !== 'calls') isHanging = question.type === 'hang'
  if (!isHanging) for (const response of unanswered.splice(0)) response.end('{"ok":true}')
  const all: CallsOfGid[] = [...calls].map(([gid, counts]) => [gid, ...counts])
  process.send?.({ calls: question.type === 'calls' ? all : [] } satisfies BranchAnswer)
})

// The process that started this one is gone.
process.on('disconnect', () => process.exit(0))
server.keepAliveTimeout = 0
server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 }, () => {
  process.send?.((server.address() as AddressInfo).port)
})
