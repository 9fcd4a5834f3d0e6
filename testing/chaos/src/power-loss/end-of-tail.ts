import type { Change } from './surviving-changes.ts'

/**
 * Returns where the first hole begins behind what was synced: a file that grows in the order of its bytes reaches so
 * far.
 */
export function endOfTail(syncedBytes: number, survivors: readonly Change[]): number {
  const writes = survivors.filter((change) => change.type === 'write').sort((a, b) => a.offset - b.offset)
  let end = syncedBytes
  for (const { offset, data } of writes) {
    if (offset > end) return end
    end = Math.max(end, offset + data.length)
  }
  return end
}
