import {
  type Parsed,
  parseAllowedOrigins,
  parseServices,
  type TargetRules,
} from '@counterstep/branch-http/targets'
import { refuseUnknown } from './known-options.ts'
import type { Targets } from './options.ts'

/**
 * Converts the option `targets` to rules, with the services of this process, which are written as the command line has them.
 * Throws a TypeError that says what is wrong with it.
 */
export function readTargetRules(
  targets: Targets | undefined,
  inProcess: readonly string[] = [],
): TargetRules {
  const own = readOrThrow('branches', parseServices(inProcess.join(',')))
  if (targets === 'loopback') return { services: own, allowed: [], others: 'loopback', isLocal: true }
  if (targets === 'insecure-any') return { services: own, allowed: [], others: 'any', isLocal: false }
  if (targets === undefined && own.length > 0)
    return { services: own, allowed: [], others: 'none', isLocal: false }
  if (typeof targets !== 'object' || targets === null) throw createNoTargetsError()
  refuseUnknown('counterstep targets', targets, ['services', 'allow'])
  // The services are written as the command line has them, so that one parser checks both. It refuses a URL with a comma.
  const items = Object.entries(targets.services ?? {}).map(([name, url]) => `${name}=${url}`)
  const services = readOrThrow('services', parseServices([...items, ...inProcess].join(',')))
  const allowed = readOrThrow('allow', parseAllowedOrigins((targets.allow ?? []).join(',')))
  if (services.length === 0 && allowed.length === 0) throw createNoTargetsError()
  return { services, allowed, others: 'none', isLocal: false }
}

function readOrThrow<Value>(name: string, parsed: Parsed<Value>): Value {
  if ('problem' in parsed) throw new TypeError(`counterstep targets.${name} ${parsed.problem}`)
  return parsed.value
}

function createNoTargetsError(): TypeError {
  return new TypeError(
    "counterstep needs targets, where branches may be called: { services: { bank: 'https://bank.example' } }, " +
      "{ allow: ['https://bank.example'] }, or, in development, 'loopback'",
  )
}
