import type { TestProject } from 'vitest/node'
import { readEnvironment } from '../environment.ts'
import type { Missing } from './offers.ts'
import { ownOffer } from './open-offer.ts'

const NONE_SHARED: Missing = { type: 'missing', reason: 'these files share no server', isError: true }

/** Prepares test files that start their own servers of these kinds. It starts no shared server. */
export async function setup(project: TestProject): Promise<void> {
  const environment = readEnvironment()
  const [mariadb, mysql] = await Promise.all([
    ownOffer('mariadb', environment),
    ownOffer('mysql', environment),
  ])
  project.provide('testServers', {
    mariadb: { shared: NONE_SHARED, own: mariadb },
    mysql: { shared: NONE_SHARED, own: mysql },
  })
}
