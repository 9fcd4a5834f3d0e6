import { type Address, tcpAnswer } from './tcp-answer.ts'

const HEADER_BYTES = 4
const PROTOCOL_10 = 10
const ERROR_PACKET = 0xff
const ERROR_TEXT_AT = 3

/** Reads the version from the first packet of a connection, which comes before any login. */
export function mysqlVersion(address: Address): Promise<string> {
  return tcpAnswer(address, '', parseGreeting)
}

export function parseGreeting(received: Buffer): string | undefined {
  if (received.length < HEADER_BYTES) return undefined
  const packetBytes = received.readUIntLE(0, 3)
  const packet = received.subarray(HEADER_BYTES, HEADER_BYTES + packetBytes)
  if (packet.length < packetBytes) return undefined
  if (packet[0] === ERROR_PACKET) throw new Error(packet.subarray(ERROR_TEXT_AT).toString())
  const end = packet.indexOf(0, 1)
  if (packet[0] !== PROTOCOL_10 || end === -1) throw new Error('this is no MySQL server')
  // MariaDB 10 puts a version before its own, for replicas that expect a MySQL.
  return packet
    .subarray(1, end)
    .toString()
    .replace(/^5\.5\.5-/, '')
}

export function readFlavor(version: string): 'mariadb' | 'mysql' {
  return /mariadb/i.test(version) ? 'mariadb' : 'mysql'
}
