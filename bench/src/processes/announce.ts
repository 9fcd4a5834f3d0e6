import type { AddressInfo } from 'node:net'

/** Tells the harness, on standard output, where this process listens. */
export function announce(address: AddressInfo | string | null): void {
  if (address === null || typeof address === 'string') throw new Error('not listening on a port')
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${address.port}` })}\n`)
}
