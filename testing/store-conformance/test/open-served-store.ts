import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import type { Store } from '@counterstep/core'
import type { ServedCall } from './served-store.ts'

interface Waiter {
  readonly resolve: (result: never) => void
  readonly reject: (error: Error) => void
}

/** Opens the store of another process. Each call is a line to its server. */
export async function openServedStore({ port }: { readonly port: number }): Promise<Store> {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  await once(socket, 'connect')
  const waiters = new Map<number, Waiter>()
  createInterface(socket).on('line', (line) => {
    const { id, result, error } = JSON.parse(line) as { id: number; result?: never; error?: string }
    const waiter = waiters.get(id)
    waiters.delete(id)
    if (error === undefined) waiter?.resolve(result as never)
    else waiter?.reject(new Error(error))
  })
  let sent = 0
  const ask = <T>(verb: keyof Store, ...given: readonly unknown[]): Promise<T> =>
    new Promise((resolve, reject) => {
      const call: ServedCall = { id: sent++, verb, arguments: given, callerNow: Date.now() }
      waiters.set(call.id, { resolve, reject })
      socket.write(`${JSON.stringify(call)}\n`)
    })
  return {
    name: 'served',
    durabilityClass: 'C',
    failover: 'none',
    capabilities: { durable: false, shared: true },
    create: (transaction) => ask('create', transaction),
    readMany: (gids) => ask('readMany', gids),
    update: (update) => ask('update', update),
    renew: (leases, leaseMs) => ask('renew', leases, leaseMs),
    claimDue: (claim) => ask('claimDue', claim),
    claim: (claim) => ask('claim', claim),
    postponeDue: (postponement) => ask('postponeDue', postponement),
    findFinal: (gids) => ask('findFinal', gids),
    list: (query) => ask('list', query),
    stats: () => ask('stats'),
    purgeFinished: (limit) => ask('purgeFinished', limit),
    readDocuments: (category) => ask('readDocuments', category),
    writeDocument: (write) => ask('writeDocument', write),
    removeDocument: (removal) => ask('removeDocument', removal),
    close: async () => {
      socket.end()
      await once(socket, 'close')
    },
  }
}
