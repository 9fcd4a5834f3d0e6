import type { HttpBranchCallerOptions } from '@counterstep/branch-http'
import type { TargetRules } from '@counterstep/targets'
import { isLoopback } from './loopback.ts'
import type { SettingValues } from './settings.ts'

type TargetValues = Pick<SettingValues, 'host' | 'services' | 'allowTargets' | 'allowAnyTarget'>

/** Development is a loopback bind with nothing configured: its branches are on this machine. */
export function targetRules({ host, services, allowTargets, allowAnyTarget }: TargetValues): TargetRules {
  const isLocal = isLoopback(host)
  const isUnset = services.length === 0 && allowTargets.length === 0
  const others = allowAnyTarget ? 'any' : isUnset && isLocal ? 'loopback' : 'none'
  return Object.freeze({ services, allowed: allowTargets, others, isLocal })
}

/** Whoever reaches this server could have it call whatever it reaches: so somebody says first what that may be. */
export function targetProblems(values: Partial<TargetValues>): string[] {
  const { host, services, allowTargets, allowAnyTarget } = values
  if (host === undefined || services === undefined || allowTargets === undefined) return []
  if (isLoopback(host) || services.length > 0 || allowTargets.length > 0 || allowAnyTarget !== false)
    return []
  return [
    '--host is no loopback address, so say where branches may be called: ' +
      '--services bank=https://bank.example (then bank:/debit), ' +
      '--allow-targets https://bank.example,http://10.0.0.5:8080, or, insecure, --allow-any-target.',
  ]
}

export function targetWarnings({ allowAnyTarget }: Pick<SettingValues, 'allowAnyTarget'>): string[] {
  if (!allowAnyTarget) return []
  return [
    'INSECURE --allow-any-target: whoever may submit has this server call any URL, inside your network too. ' +
      'List them by --services or --allow-targets.',
  ]
}

export function callerOptions(values: SettingValues): Omit<HttpBranchCallerOptions, 'targets' | 'lookup'> {
  return Object.freeze({
    answerExcerpts: values.answerExcerpts === 'on',
    connectionsPerOriginMax: values.connectionsPerOriginMax,
    queuedPerOriginMax: values.queuedPerOriginMax,
    originsMax: values.originsMax,
    connectTimeoutMs: values.connectTimeoutMs,
    keepAliveMs: values.keepAliveMs,
    answerBodyBytesMax: values.answerBodyBytesMax,
    answerHeaderBytesMax: values.answerHeaderBytesMax,
  })
}
