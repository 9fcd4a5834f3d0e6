import { type DurabilityClass, StoreUnavailableError } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'
import { type ClassVerdict, classOf, type ServerFacts } from './server-facts.ts'

export interface Terms {
  readonly isCluster: boolean
  readonly acceptClassC: boolean
  /** What the operator knows of a service that hides its settings. */
  readonly declared: 'A' | 'B' | undefined
}

const VERSION_MIN = 7

/** The class that all of them keep, which is the lowest. Throws if one cannot be used. */
export function admitServers(servers: readonly ServerFacts[], terms: Terms): DurabilityClass {
  for (const facts of servers) assertUsable(facts, terms)
  const classes = servers.map((facts) => admittedClass(facts, terms))
  return classes.includes('C') ? 'C' : classes.includes('B') ? 'B' : 'A'
}

function assertUsable({ server, version, isClusterNode, role }: ServerFacts, { isCluster }: Terms): void {
  if (version !== undefined && Number.parseInt(version, 10) < VERSION_MIN) {
    throw unsupported(`${server} is Redis ${version}; Counterstep needs ${VERSION_MIN}.0 or Valkey`)
  }
  if (isClusterNode === true && !isCluster) {
    throw unsupported(`${server} is a node of a cluster: name it by redis-cluster://`)
  }
  if (isClusterNode === false && isCluster)
    throw unsupported(`${server} is no node of a cluster: name it by redis://`)
  if (role === 'slave') throw new StoreUnavailableError(`${server} is a replica`, { applied: 'no' })
}

function admittedClass(facts: ServerFacts, { acceptClassC, declared }: Terms): DurabilityClass {
  const verdict = classOf(facts)
  if (verdict === undefined) return declared ?? refused(facts.server, HIDDEN, acceptClassC)
  if (verdict.durabilityClass === 'C') return refused(facts.server, verdict, acceptClassC)
  // A declaration fills in what is hidden; what can be read counts.
  return facts.settings.appendfsync === undefined
    ? (declared ?? verdict.durabilityClass)
    : verdict.durabilityClass
}

const HIDDEN: ClassVerdict = {
  durabilityClass: 'C',
  reason: 'neither CONFIG GET nor INFO tells appendonly (declare `durability` if you know it)',
}

function refused(server: string, { reason }: ClassVerdict, acceptClassC: boolean): 'C' {
  if (acceptClassC) return 'C'
  throw new CounterstepError(
    'SAGA_STORE_NOT_DURABLE',
    `${server} may lose acknowledged sagas: ${reason}. acceptClassC would take it all the same.`,
  )
}

function unsupported(message: string): CounterstepError {
  return new CounterstepError('SAGA_STORE_UNSUPPORTED', message)
}
