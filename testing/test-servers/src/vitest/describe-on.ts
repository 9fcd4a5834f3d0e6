import { describe, inject, it } from 'vitest'
import type { Missing, Offer, ServerKind } from './offers.ts'

export type { ServerKind } from './offers.ts'

/** Tests on the shared, durable server of this kind, which `define` gets the url of. */
export function describeOn(server: ServerKind, title: string, define: (url: string) => void): void {
  const { shared } = offerOf(server)
  if (shared.type === 'missing') describeMissing(server, title, shared)
  else describe(`${title} (${server})`, () => define(shared.url))
}

/** Tests that start servers of their own, to do to them what nobody may do to a shared one. */
export function describeOwn(server: ServerKind, title: string, define: () => void): void {
  const { own } = offerOf(server)
  if (own.type === 'missing') describeMissing(server, title, own)
  else describe(`${title} (${server})`, define)
}

function offerOf(server: ServerKind): Offer {
  const offer = inject('testServers')[server]
  if (offer === undefined) throw new Error(`needed-kinds.ts does not say that this file needs ${server}`)
  return offer
}

/** One test that stands for all of them, skipped or failed with the reason. */
function describeMissing(server: ServerKind, title: string, { reason, isError }: Missing): void {
  describe(`${title} (${server})`, () => {
    it('has its server', (context) => {
      if (isError) throw new Error(reason)
      context.skip(reason)
    })
  })
}
