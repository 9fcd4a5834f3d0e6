import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const REPOSITORY = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))))
/** Not in the system's temp folder: that may be memory, where a flush costs nothing. */
export const WORK_FOLDER = join(REPOSITORY, '.tmp', 'bench')
export const FOLLOW_PARENT = join(REPOSITORY, 'scripts', 'follow-parent.mjs')

type ProcessName =
  | 'bank-gateway'
  | 'bank-services'
  | 'bank-writers'
  | 'branch'
  | 'by-hand'
  | 'callers'
  | 'dbos-app'
  | 'dbos-saga'
  | 'grpc-branch'
  | 'in-process'
  | 'load'
  | 'move-services'
  | 'relay'
  | 'restate-handler'
  | 'restate-saga'
  | 'two-writes-baseline'

export function processPath(name: ProcessName): string {
  return fileURLToPath(new URL(`../processes/${name}.ts`, import.meta.url))
}
