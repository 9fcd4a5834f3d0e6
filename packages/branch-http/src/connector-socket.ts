import { Socket } from 'node:net'
import { buildConnector } from 'undici'
import { undiciChanged } from './undici-changed.ts'

/**
 * Relies on an undocumented part of undici, which was read in 8.12.4: a connector returns the socket that it
 * connects, though its types do not say so. With the socket the address of the service can be checked before anything
 * is sent. The connector's callback would be too late, because it runs after TLS has sent its hello. Throws a
 * LibraryChangedError if undici no longer works so.
 */
export function connectSocket(
  connect: buildConnector.connector,
  options: buildConnector.Options,
  callback: buildConnector.Callback,
): Socket {
  const socket: unknown = connect(options, callback)
  if (socket instanceof Socket) return socket
  throw undiciChanged('the connector of `buildConnector`, which gives no socket to check the address of')
}

/**
 * Tests that part of undici when a branch caller is made. Its name is never looked up, so that it connects to
 * nothing.
 */
export function assertConnectorGivesSocket(build = buildConnector): void {
  const connect = build({ timeout: 0, lookup: () => undefined })
  connectSocket(
    connect,
    { hostname: 'self-test.invalid', protocol: 'http:', port: '80' },
    () => undefined,
  ).destroy()
}
