import { type DurabilityClass, StoreUnavailableError } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'
import { type ClassVerdict, readClass, type ServerFacts } from './server-facts.ts'

export interface Terms {
  readonly isCluster: boolean
  readonly acceptClassC: boolean
  /** This is the class that the operator declares for a service that hides its settings. */
  readonly declared: 'A' | 'B' | undefined
}

const VERSION_MIN = 7

/** Returns the lowest class of the servers, which all of them keep. Throws if one cannot be used. */
export function admitServers(servers: readonly ServerFacts[], terms: Terms): DurabilityClass {
  for (const facts of servers) assertUsable(facts, terms)
  const classes = servers.map((facts) => admitClass(facts, terms))
  return classes.includes('C') ? 'C' : classes.includes('B') ? 'B' : 'A'
}

function assertUsable({ server, version, isClusterNode, role }: ServerFacts, { isCluster }: Terms): void {
  if (version !== undefined && Number.parseInt(version, 10) < VERSION_MIN) {
    throw unsupportedError(`${server} is Redis ${version}; Counterstep needs ${VERSION_MIN}.0 or Valkey`)
  }
  if (isClusterNode === true && !isCluster) {
    throw unsupportedError(`${server} is a node of a cluster: name it by redis-cluster://`)
  }
  if (isClusterNode === false && isCluster)
    throw unsupportedError(`${server} is no node of a cluster: name it by redis://`)
  if (role === 'slave') throw new StoreUnavailableError(`${server} is a replica`, { applied: 'no' })
}

function admitClass(facts: ServerFacts, { acceptClassC, declared }: Terms): DurabilityClass {
  const verdict = readClass(facts)
  if (verdict === undefined) return declared ?? acceptOrRefuse(facts.server, HIDDEN, acceptClassC)
  if (verdict.durabilityClass === 'C') return acceptOrRefuse(facts.server, verdict, acceptClassC)
  // A declaration replaces only a hidden setting. A setting that can be read counts more.
  return facts.settings.appendfsync === undefined
    ? (declared ?? verdict.durabilityClass)
    : verdict.durabilityClass
}

const HIDDEN: ClassVerdict = {
  durabilityClass: 'C',
  reason: 'neither CONFIG GET nor INFO tells appendonly (declare `durability` if you know it)',
}

function acceptOrRefuse(server: string, { reason }: ClassVerdict, acceptClassC: boolean): 'C' {
  if (acceptClassC) return 'C'
  throw new CounterstepError(
    'SAGA_STORE_NOT_DURABLE',
    `${server} may lose acknowledged sagas: ${reason}. acceptClassC would take it all the same.`,
  )
}

function unsupportedError(message: string): CounterstepError {
  return new CounterstepError('SAGA_STORE_UNSUPPORTED', message)
}
