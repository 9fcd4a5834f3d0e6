import { connect } from 'node:net'

export interface Address {
  readonly host: string
  readonly port: number
}

const ANSWER_MS_MAX = 5_000

/**
 * Connects, sends `question`, and gives all bytes received so far to `parse` until it finds an answer. This package asks a
 * server so little that it needs no driver.
 */
export function tcpAnswer<T>(
  address: Address,
  question: string,
  parse: (received: Buffer) => T | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const name = `${address.host}:${address.port}`
    const socket = connect(address)
    let received: Buffer = Buffer.alloc(0)
    socket.setTimeout(ANSWER_MS_MAX, () =>
      socket.destroy(new Error(`${name} did not answer within ${ANSWER_MS_MAX} ms`)),
    )
    socket.on('error', reject)
    // After an answer the promise is settled, and this does nothing.
    socket.on('close', () => reject(new Error(`${name} closed the connection without an answer`)))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      try {
        const answer = parse(received)
        if (answer === undefined) return
        resolve(answer)
      } catch (error: unknown) {
        reject(error)
      }
      socket.destroy()
    })
    if (question !== '') socket.write(question)
  })
}
