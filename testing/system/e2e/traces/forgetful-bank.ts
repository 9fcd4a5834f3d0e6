import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A service that never answers, until it is told to. */
export async function startForgetfulBank() {
  let answers = false
  const http = createServer((_request, response) => {
    if (answers) response.end('{}')
  })
  const called = once(http, 'request')
  await once(http.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/debit`,
    called,
    remember() {
      answers = true
    },
    close() {
      http.closeAllConnections()
      http.close()
    },
  }
}
