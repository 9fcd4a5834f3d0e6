import { createServer } from 'node:net'

/** Throws an Error that names the first port that is taken, and the service that wants it. */
export async function requireFreePorts(wanted: readonly { readonly name: string; readonly port: number }[]) {
  for (const { name, port } of wanted) {
    if (port === 0 || (await isFree(port))) continue
    throw new Error(
      `Port ${port}, wanted for ${name}, is taken by another process. ` +
        `Stop that one, or choose another port: npm start -- --port ${port + 100}`,
    )
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
