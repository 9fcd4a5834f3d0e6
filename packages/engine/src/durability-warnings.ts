import type { Store } from '@counterstep/core'

/**
 * Returns a sentence for each way in which this store may lose acknowledged writes.
 *
 * @param failoverSetting is this host's name for the setting that says whether a failover may lose writes.
 */
export function listDurabilityWarnings(
  { durabilityClass, failover }: Pick<Store, 'durabilityClass' | 'failover'>,
  failoverSetting: string,
): readonly string[] {
  const warnings: string[] = []
  if (durabilityClass === 'B') {
    warnings.push('The store is class B: a power loss may take the last 2 s of what it acknowledged.')
  }
  if (durabilityClass === 'C') {
    warnings.push(
      'The store is class C: a crash of its process may take what it acknowledged, and it may evict unfinished transactions.',
    )
  }
  if (failover === 'lossy') {
    warnings.push(
      'A failover of the store may take the last writes that it acknowledged (lossy). ' +
        `If there is none, or a lossless one, say so by ${failoverSetting}.`,
    )
  }
  return warnings
}
