// This service listens and accepts no connection until it is woken; from then on it answers 200.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

const wake = new Int32Array(workerData as SharedArrayBuffer)
const server = createServer((request, response) => {
  request.resume()
  response.end('ok')
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  parentPort?.postMessage((server.address() as AddressInfo).port)
  Atomics.wait(wake, 0, 0)
})
