import type { HttpBranchCallerOptions } from '@counterstep/branch-http'
import { hasEveryPort, type TargetRules } from '@counterstep/targets'
import type { ValuesOf } from './read-values.ts'
import type { Spelling } from './spelling.ts'
import { TARGET_SETTINGS } from './target-settings.ts'

type TargetValues = ValuesOf<typeof TARGET_SETTINGS>
type RuleValues = Pick<TargetValues, 'services' | 'allowTargets' | 'allowAnyTarget'>

export type CallerConfig = Omit<HttpBranchCallerOptions, 'targets' | 'lookup' | 'listedOrigins' | 'signer'>

/** Where only this machine reaches us and nothing is said, that is development: its branches are on this machine. */
export function targetRules(
  { services, allowTargets, allowAnyTarget }: RuleValues,
  isLocal: boolean,
): TargetRules {
  const isUnset = services.length === 0 && allowTargets.length === 0
  const others = allowAnyTarget ? 'any' : isUnset && isLocal ? 'loopback' : 'none'
  return Object.freeze({ services, allowed: allowTargets, others, isLocal })
}

/**
 * Whoever reaches a server could have it call whatever it reaches: so where others do, and `reason` says that they do,
 * somebody says first what that may be.
 */
export function targetProblems(values: Partial<RuleValues>, reason: string, spell: Spelling): string[] {
  const { services, allowTargets, allowAnyTarget } = values
  if (services === undefined || allowTargets === undefined) return []
  if (services.length > 0 || allowTargets.length > 0 || allowAnyTarget !== false) return []
  return [
    `${reason}, so say where branches may be called: ` +
      `${spell(TARGET_SETTINGS.services, 'bank=https://bank.example')} (then bank:/debit), ` +
      `${spell(TARGET_SETTINGS.allowTargets, 'https://bank.example,http://10.0.0.5:8080')}, or, insecure, ` +
      `${spell(TARGET_SETTINGS.allowAnyTarget, 'true')}.`,
  ]
}

export function targetWarnings(
  values: Pick<TargetValues, 'allowAnyTarget' | 'allowTargets' | 'egressProxy'>,
  spell: Spelling,
): string[] {
  const { allowAnyTarget, allowTargets: allowed, egressProxy } = values
  const { services, allowTargets } = TARGET_SETTINGS
  const warnings: string[] = []
  if (egressProxy !== undefined) {
    warnings.push(
      `With ${spell(TARGET_SETTINGS.egressProxy)} the proxy looks up the names of branches: it has to refuse the ` +
        'addresses that must not be called, because this server does not see them.',
    )
  }
  if (hasEveryPort(allowed)) {
    warnings.push(
      `${spell(allowTargets)} has a range of addresses with every port: whoever may submit has this server call ` +
        'whatever listens there.',
    )
  }
  if (!allowAnyTarget) return warnings
  return [
    ...warnings,
    `INSECURE ${spell(TARGET_SETTINGS.allowAnyTarget, 'true')}: whoever may submit has this server call any URL, ` +
      `inside your network too. List them by ${spell(services)} or ${spell(allowTargets)}.`,
  ]
}

export function callerOptions(
  values: Omit<TargetValues, 'serviceCa' | 'serviceCert' | 'serviceKey'>,
): CallerConfig {
  return Object.freeze({
    proxyUrl: values.egressProxy,
    answerExcerpts: values.answerExcerpts === 'on',
    connectionsPerOriginMax: values.connectionsPerOriginMax,
    queuedPerOriginMax: values.queuedPerOriginMax,
    originsMax: values.originsMax,
    connectTimeoutMs: values.connectTimeoutMs,
    keepAliveMs: values.keepAliveMs,
    connectionAgeMsMax: values.connectionAgeMsMax,
    answerBodyBytesMax: values.answerBodyBytesMax,
    answerHeaderBytesMax: values.answerHeaderBytesMax,
  })
}
