import { GID_REUSE_MARGIN_MS } from '@counterstep/protocol'
import type { EngineSettings } from './settings.ts'

/** Covers the clocks of server and services being apart. */
const CLOCKS_APART_MS = 3_600_000
const RETENTION_MS_SAFE = GID_REUSE_MARGIN_MS + CLOCKS_APART_MS

/**
 * A sentence where the retention is too short for barriers to tell a gid that is used again.
 *
 * @param retentionSetting what this host calls the setting.
 */
export function retentionWarnings(
  { retentionMs }: Pick<EngineSettings, 'retentionMs'>,
  retentionSetting: string,
): readonly string[] {
  if (retentionMs === 'never' || retentionMs >= RETENTION_MS_SAFE) return []
  return [
    `${retentionSetting} (${retentionMs}) is under ${RETENTION_MS_SAFE} (25 hours): a gid that is ` +
      'submitted again before then is taken by the barriers for the finished transaction of that gid, and may undo it.',
  ]
}
