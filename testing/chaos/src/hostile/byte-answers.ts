/** Answers in bytes that no HTTP server would send. Where `ends`, the connection ends with them; else it is held open. */
import type { Socket } from 'node:net'
import type { Behaviour, Meaning } from './behaviour.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const REFUSAL = 'HTTP/1.1 409 Conflict\r\ncontent-length: 2\r\n\r\nno'
const ERROR = 'HTTP/1.1 500 Internal Server Error\r\ncontent-length: 2\r\n\r\nno'
const HEADER_BYTES = 64 * 1024
const INFORMATIONAL = 100_000
const DRIP_EVERY_MS = 100

const CUT: readonly (readonly [string, Meaning, string])[] = [
  ['closes-without-a-byte', 'again', ''],
  ['closes-within-the-status', 'again', 'HTTP/1.1 2'],
  ['closes-within-the-headers', 'again', 'HTTP/1.1 200 OK\r\nx-a: 1'],
  ['closes-within-a-200', 'again', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nok'],
  ['closes-within-a-409', 'again', 'HTTP/1.1 409 Conflict\r\ncontent-length: 10\r\n\r\nno'],
  ['closes-within-a-chunk', 'again', 'HTTP/1.1 409 Conflict\r\ntransfer-encoding: chunked\r\n\r\n5\r\nno'],
  [
    'closes-before-the-last-chunk',
    'again',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n',
  ],
  ['speaks-ssh', 'again', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['speaks-http-2', 'again', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['speaks-html-only', 'again', '<html><body>200 OK</body></html>'],
  ['has-a-status-of-letters', 'again', 'HTTP/1.1 OK 200\r\ncontent-length: 0\r\n\r\n'],
  ['breaks-the-chunks', 'again', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nok\r\n'],
  ['gives-two-lengths', 'again', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nok'],
  ['gives-a-negative-length', 'again', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nok'],
  ['gives-a-huge-length', 'again', `HTTP/1.1 200 OK\r\ncontent-length: ${'9'.repeat(30)}\r\n\r\nok`],
  ['sends-64-kib-of-headers', 'again', `HTTP/1.1 200 OK\r\nx-a: ${'x'.repeat(HEADER_BYTES)}\r\n\r\n`],
  [
    'sends-64-kib-of-small-headers',
    'again',
    `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(HEADER_BYTES / 8)}\r\n`,
  ],
  ['floods-with-1xx', 'again', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(INFORMATIONAL) + OK],
  [
    'switches-protocols',
    'again',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  ],
  ['sends-a-second-answer', 'success', OK + REFUSAL],
  ['sends-more-than-its-length', 'success', `${OK}FAILURE`],
  ['corrects-its-error', 'again', ERROR + OK],
  ['ends-its-body-by-closing', 'success', 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nwhole'],
]

const HELD: readonly (readonly [string, string])[] = [
  ['hangs', ''],
  ['hangs-within-the-status', 'HTTP/1.1 2'],
  ['hangs-after-100', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['hangs-before-the-body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n'],
  ['hangs-within-a-200', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nok'],
  ['hangs-within-a-409', 'HTTP/1.1 409 Conflict\r\ncontent-length: 10\r\n\r\nno'],
]

const DRIPPED: readonly (readonly [string, string])[] = [
  ['drips-its-headers', 'HTTP/1.1 200 OK\r\nx-a: '],
  ['drips-its-body', 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n'],
  ['drips-its-refusal', 'HTTP/1.1 409 Conflict\r\ncontent-length: 1000\r\n\r\n'],
]

export const BYTE_ANSWERS: readonly Behaviour[] = [
  ...CUT.map(([name, meaning, text]) => onSocket(name, meaning, (socket) => socket.end(text))),
  ...HELD.map(([name, text]) => onSocket(name, 'again', (socket) => socket.write(text))),
  ...DRIPPED.map(([name, text]) => onSocket(name, 'again', (socket) => drip(socket, text))),
  onSocket('resets-after-the-request', 'again', (socket) => socket.resetAndDestroy()),
  onSocket('resets-after-a-200', 'success-or-again', (socket) => {
    socket.write(OK, () => socket.resetAndDestroy())
  }),
]

function onSocket(name: string, meaning: Meaning, act: (socket: Socket) => void): Behaviour {
  return {
    name,
    meaning,
    answer({ socket }) {
      if (socket !== null) act(socket)
    },
  }
}

function drip(socket: Socket, text: string): void {
  socket.write(text)
  const timer = setInterval(() => socket.write('x'), DRIP_EVERY_MS)
  socket.on('close', () => clearInterval(timer))
}
