import { describe, inject, it } from 'vitest'
import type { Missing, Offer, ServerKind } from './offers.ts'

export type { ServerKind } from './offers.ts'

/** Defines tests on the shared, durable server of this kind, whose URL `define` gets. */
export function describeOn(server: ServerKind, title: string, define: (url: string) => void): void {
  const { shared } = findOffer(server)
  if (shared.type === 'missing') describeMissing(server, title, shared)
  else describe(`${title} (${server})`, () => define(shared.url))
}

/** Defines tests that start servers of their own, because they do what must not be done to a shared one. */
export function describeOwn(server: ServerKind, title: string, define: () => void): void {
  const { own } = findOffer(server)
  if (own.type === 'missing') describeMissing(server, title, own)
  else describe(`${title} (${server})`, define)
}

function findOffer(server: ServerKind): Offer {
  const offer = inject('testServers')[server]
  if (offer === undefined) throw new Error(`needed-kinds.ts does not say that this file needs ${server}`)
  return offer
}

/** Defines one test in the place of all of them, which is skipped or fails with the reason. */
function describeMissing(server: ServerKind, title: string, { reason, isError }: Missing): void {
  describe(`${title} (${server})`, () => {
    it('The server of these tests is there', (context) => {
      if (isError) throw new Error(reason)
      context.skip(reason)
    })
  })
}
