import type { OriginTls } from '@counterstep/branch-http'
import type { SettingValues } from './settings.ts'

export type ServiceValues = Pick<SettingValues, 'services' | 'serviceCa' | 'serviceCert' | 'serviceKey'>

/** Maps the origin of each named service to the service's certificates. */
export function readServiceTls({
  services,
  serviceCa,
  serviceCert,
  serviceKey,
}: ServiceValues): ReadonlyMap<string, OriginTls> {
  const all = services.map(({ name, origin }) => {
    const own = { ca: serviceCa.get(name), cert: serviceCert.get(name), key: serviceKey.get(name) }
    return [origin, own] as const
  })
  return new Map(all.filter(([, own]) => Object.values(own).some((pem) => pem !== undefined)))
}
