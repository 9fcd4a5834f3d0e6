import { readFileSync } from 'node:fs'
import { ConnectionBounds, DEFAULT_CONNECTION_LIMITS } from '@counterstep/access'
import type { AccessConfig } from '@counterstep/configuration'
import type { Logger } from '@counterstep/engine'
import { warnOfBounds } from '@counterstep/server'

/** Connections may take this part of a process's descriptors. The rest is for its store, its files and branch calls. */
const SHARE_OF_DESCRIPTORS = 0.5

/** Creates the bounds on callers' connections, which both HTTP APIs of this process share. */
export function openBounds({ bounds }: AccessConfig, logger: Logger): ConnectionBounds {
  const connectionsMax = boundConnectionsMax(bounds.connectionsMax, readOpenFilesMax())
  if (connectionsMax < bounds.connectionsMax) {
    logger.warn(
      { connectionsMax },
      'fewer connections than --connections-max are taken: half of the descriptors (ulimit -n) stay for the store and calls',
    )
  }
  const limits = { ...DEFAULT_CONNECTION_LIMITS, ...bounds, connectionsMax }
  return new ConnectionBounds(limits, warnOfBounds(logger))
}

/** Returns the number of connections that was asked for, or half of the process's descriptors if that is less. */
export function boundConnectionsMax(wanted: number, descriptorsMax: number): number {
  return Math.max(1, Math.min(wanted, Math.floor(descriptorsMax * SHARE_OF_DESCRIPTORS)))
}

/** Reads how many descriptors this process may open. Returns Infinity if the system has no file that says it. */
export function readOpenFilesMax(path = '/proc/self/limits'): number {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(path, 'utf8'))?.[1]
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    // Only Linux has this file.
    return Number.POSITIVE_INFINITY
  }
}
