import { type Address, tcpAnswer } from './tcp-answer.ts'

const PROTOCOL_3 = 196_608
const HEADER_BYTES = 5
const LENGTH_BYTES = 4

/** Logs in as `postgres` without a password and returns the version that the server names. */
export function postgresVersion(address: Address): Promise<string> {
  return tcpAnswer(address, startupMessage(), parseStartup)
}

/** Writes the first message. All its bytes are ASCII, so it may be sent as text. */
function startupMessage(): string {
  const parameters = 'user\0postgres\0database\0postgres\0\0'
  const message = Buffer.alloc(2 * LENGTH_BYTES)
  message.writeInt32BE(message.length + parameters.length, 0)
  message.writeInt32BE(PROTOCOL_3, LENGTH_BYTES)
  return message.toString('latin1') + parameters
}

/** Returns the version, or undefined until the server is ready for a query. */
export function parseStartup(received: Buffer): string | undefined {
  let version: string | undefined
  for (let at = 0; received.length >= at + HEADER_BYTES; ) {
    const type = String.fromCharCode(received[at] ?? 0)
    const end = at + 1 + received.readInt32BE(at + 1)
    if (!'RSKEZNv'.includes(type)) throw new Error('this is no PostgreSQL server')
    if (received.length < end) return undefined
    const fields = received
      .subarray(at + HEADER_BYTES, end)
      .toString()
      .split('\0')
    if (type === 'E') throw new Error(errorText(fields))
    if (type === 'S' && fields[0] === 'server_version') version = fields[1]
    if (type === 'Z') return version
    at = end
  }
  return undefined
}

/** Finds the text of an error. Each field has a letter before it, and M is the text for people. */
function errorText(fields: readonly string[]): string {
  return fields.find((field) => field.startsWith('M'))?.slice(1) ?? 'an error without a text'
}
