import { spawnSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { REPOSITORY } from '../harness/paths.ts'
import { toSpread } from '../spread.ts'

export interface Machine {
  /** The commit has a `+` when the checkout differs from it. */
  readonly commit: string
  readonly node: string
  readonly cores: number
  readonly cpu: string
  readonly memoryGib: number
  /** Median of some 4 KiB appends with fdatasync, where the store's file lies. */
  readonly flushMs: number
  /** The data lies in memory, so that flushes say nothing. */
  readonly isMemoryDisk: boolean
  /** Runnable threads per core before the run; others' work spoils ratios too. */
  readonly loadPerCore: number
}

const TMPFS = 0x01021994
const FLUSHES = 21

export function readMachine(folder: string): Machine {
  const cores = availableParallelism()
  return {
    commit: readCommit(),
    node: process.version,
    cores,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryGib: Math.round((totalmem() / 2 ** 30) * 10) / 10,
    flushMs: measureFlushMs(folder),
    isMemoryDisk: isInMemory(folder),
    loadPerCore: Math.round(((loadavg()[0] ?? 0) / cores) * 100) / 100,
  }
}

export function isInMemory(folder: string): boolean {
  return statfsSync(folder).type === TMPFS
}

function readCommit(): string {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: REPOSITORY, encoding: 'utf8' })
  const head = git('rev-parse', '--short=10', 'HEAD')
  if (head.status !== 0) return 'unknown'
  const isClean = git('status', '--porcelain').stdout === ''
  return `${head.stdout.trim()}${isClean ? '' : '+'}`
}

function measureFlushMs(folder: string): number {
  const path = join(folder, 'flush')
  const file = openSync(path, 'w')
  const page = Buffer.alloc(4096, 1)
  const times = Array.from({ length: FLUSHES }, () => {
    const start = performance.now()
    writeSync(file, page)
    fdatasyncSync(file)
    return performance.now() - start
  })
  closeSync(file)
  rmSync(path)
  return Math.round(toSpread(times).median * 1000) / 1000
}
