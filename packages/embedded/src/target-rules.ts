import {
  type Parsed,
  parseAllowedOrigins,
  parseServices,
  type TargetRules,
} from '@counterstep/branch-http/targets'
import { refuseUnknown } from './known-options.ts'
import type { Targets } from './options.ts'

/**
 * Converts the option `targets` to rules. It may be left out where branches are functions of this process. Throws a TypeError
 * that says what is wrong with it.
 */
export function readTargetRules(targets: Targets | undefined, hasOwnBranches = false): TargetRules {
  if (targets === 'loopback') return { services: [], allowed: [], others: 'loopback', isLocal: true }
  if (targets === 'insecure-any') return { services: [], allowed: [], others: 'any', isLocal: false }
  if (targets === undefined && hasOwnBranches)
    return { services: [], allowed: [], others: 'none', isLocal: false }
  if (typeof targets !== 'object' || targets === null) throw createNoTargetsError()
  refuseUnknown('counterstep targets', targets, ['services', 'allow'])
  // The services are written as the command line has them, so that one parser checks both. It refuses a URL with a comma.
  const items = Object.entries(targets.services ?? {}).map(([name, url]) => `${name}=${url}`)
  const services = readOrThrow('services', parseServices(items.join(',')))
  const allowed = readOrThrow('allow', parseAllowedOrigins((targets.allow ?? []).join(',')))
  if (services.length === 0 && allowed.length === 0 && !hasOwnBranches) throw createNoTargetsError()
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
