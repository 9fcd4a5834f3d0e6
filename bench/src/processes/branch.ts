// A branch service that does nothing: 200 to everything. Over the channel it tells how many calls it has answered.
import { createServer } from 'node:http'
import { announce } from './announce.ts'

let calls = 0
const ANSWER = '{"ok":true}'
const HEADERS = { 'content-type': 'application/json', 'content-length': ANSWER.length }

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    calls += 1
    response.writeHead(200, HEADERS)
    response.end(ANSWER)
  })
})
// No connection may be closed for idleness between two rounds.
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => announce(server.address()))
process.on('message', () => process.send?.(calls))
process.on('SIGTERM', () => process.exit(0))
