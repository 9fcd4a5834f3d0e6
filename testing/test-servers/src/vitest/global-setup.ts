import type { TestProject } from 'vitest/node'
import { readEnvironment } from '../environment.ts'
import { progress } from '../progress.ts'
import { givenUrls } from './given-urls.ts'
import { neededKinds } from './needed-kinds.ts'
import type { Offer, Offers, ServerKind } from './offers.ts'
import { openOffer } from './open-offer.ts'

/** Starts the servers that the selected test files may need, all at once, and stops them after the last file. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const environment = readEnvironment()
  const urls = await givenUrls(environment)
  const opened = await Promise.all(
    neededKinds(project.vitest.state.getPaths()).map(async (kind) => {
      const open = await openOffer(kind, urls[kind], environment)
      progress(`${kind}: ${describe(open.offer)}`)
      return { kind, ...open }
    }),
  )
  project.provide('testServers', toOffers(opened))
  return async () => {
    await Promise.all(opened.map(({ stop }) => stop()))
  }
}

function toOffers(opened: readonly { readonly kind: ServerKind; readonly offer: Offer }[]): Offers {
  return Object.fromEntries(opened.map(({ kind, offer }) => [kind, offer]))
}

function describe({ shared }: Offer): string {
  return shared.type === 'available' ? withoutPassword(shared.url) : shared.reason
}

function withoutPassword(url: string): string {
  return url.replace(/:[^:@/]*@/, ':***@')
}
