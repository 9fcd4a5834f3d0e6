import { type Address, tcpAnswer } from './tcp-answer.ts'

/** Sends one command and returns its answer as text. It reads only strings and numbers, which is all that a start needs. */
export function redisAnswer(address: Address, words: readonly string[]): Promise<string> {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  return tcpAnswer(address, `*${words.length}\r\n${parts.join('')}`, parseAnswer)
}

export function parseAnswer(received: Buffer): string | undefined {
  const lineEnd = received.indexOf('\r\n')
  if (lineEnd === -1) return undefined
  const line = received.subarray(1, lineEnd).toString()
  switch (String.fromCharCode(received[0] ?? 0)) {
    case '+':
    case ':':
      return line
    case '-':
      throw new Error(line)
    case '$': {
      // A value that does not exist has this length.
      if (line === '-1') return ''
      const start = lineEnd + 2
      const end = start + Number(line)
      return received.length < end + 2 ? undefined : received.subarray(start, end).toString()
    }
    default:
      throw new Error(`this is no answer of a Redis server: ${line}`)
  }
}
