import type { TestProject } from 'vitest/node'
import { readEnvironment } from '../environment.ts'
import type { Missing } from './offers.ts'
import { ownOffer } from './open-offer.ts'

const NONE_SHARED: Missing = { type: 'missing', reason: 'these files share no server', isError: true }

/** Prepares test files that start a MariaDB of their own and no other server, so that no other one is looked for. */
export async function setup(project: TestProject): Promise<void> {
  const own = await ownOffer('mariadb', readEnvironment())
  project.provide('testServers', { mariadb: { shared: NONE_SHARED, own } })
}
