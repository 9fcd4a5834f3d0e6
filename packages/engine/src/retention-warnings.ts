import { GID_REUSE_MARGIN_MS } from '@counterstep/protocol'
import type { EngineSettings } from './settings.ts'

/** This margin covers differences between the clocks of the server and of the services. */
const CLOCKS_APART_MS = 3_600_000
const RETENTION_MS_SAFE = GID_REUSE_MARGIN_MS + CLOCKS_APART_MS

/**
 * Returns a warning where the retention is so short that barriers could confuse a gid with an earlier use of it.
 *
 * @param retentionSetting is this host's name for the setting.
 */
export function listRetentionWarnings(
  { retentionMs }: Pick<EngineSettings, 'retentionMs'>,
  retentionSetting: string,
): readonly string[] {
  if (retentionMs === 'never' || retentionMs >= RETENTION_MS_SAFE) return []
  return [
    `${retentionSetting} (${retentionMs}) is under ${RETENTION_MS_SAFE} (25 hours): a gid that is ` +
      'submitted again before then is taken by the barriers for the finished transaction of that gid, and may undo it.',
  ]
}
