import { createSecureContext } from 'node:tls'
import type { OriginTls } from '@counterstep/branch-http'
import type { ValuesOf } from './read-values.ts'
import type { Spelling } from './spelling.ts'
import { TARGET_SETTINGS } from './target-settings.ts'

type ServiceValues = Pick<
  ValuesOf<typeof TARGET_SETTINGS>,
  'services' | 'serviceCa' | 'serviceCert' | 'serviceKey'
>

const PEM_NAMES = ['serviceCa', 'serviceCert', 'serviceKey'] as const

/** The certificates of named services, by the origin that each service is. */
export function serviceTls({
  services,
  serviceCa,
  serviceCert,
  serviceKey,
}: ServiceValues): ReadonlyMap<string, OriginTls> {
  const tls = new Map<string, OriginTls>()
  for (const { name, origin } of services) {
    const own = { ca: serviceCa.get(name), cert: serviceCert.get(name), key: serviceKey.get(name) }
    if (Object.values(own).some((pem) => pem !== undefined)) tls.set(origin, own)
  }
  return tls
}

/** Certificates that no service would be called with, or that cannot be used, are refused at the start. */
export function serviceTlsProblems(values: Partial<ServiceValues>, spell: Spelling): string[] {
  const { services, serviceCa, serviceCert, serviceKey } = values
  if (
    services === undefined ||
    serviceCa === undefined ||
    serviceCert === undefined ||
    serviceKey === undefined
  )
    return []
  const known = { services, serviceCa, serviceCert, serviceKey }
  const named = new Set(PEM_NAMES.flatMap((setting) => [...known[setting].keys()]))
  return [...named].flatMap((name) => {
    const problem = findProblem(known, name)
    const given = PEM_NAMES.find((setting) => known[setting].has(name))
    return problem === undefined || given === undefined
      ? []
      : [`${spell(TARGET_SETTINGS[given])} ${problem}.`]
  })
}

function findProblem(values: ServiceValues, name: string): string | undefined {
  const { services, serviceCert, serviceKey } = values
  const service = services.find((each) => each.name === name)
  if (service === undefined) return `names ${name}, which is no named service`
  if (!service.origin.startsWith('https:')) return `names ${name}, which is not called by https`
  if (services.some((each) => each !== service && each.origin === service.origin))
    return `names ${name}, whose origin is another service too, and certificates are by origin`
  if (serviceCert.has(name) !== serviceKey.has(name))
    return `names ${name}, for which a certificate and its key must come together`
  try {
    createSecureContext(serviceTls(values).get(service.origin))
    return undefined
  } catch (error: unknown) {
    if (!(error instanceof Error)) throw error
    return `names ${name}, whose files cannot be used (${error.message})`
  }
}
