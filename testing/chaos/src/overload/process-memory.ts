import { existsSync, readFileSync } from 'node:fs'

export interface ProcessMemory {
  readonly residentBytes: number
  /** The most that it ever had. */
  readonly peakBytes: number
}

/** Reads Linux' own count, so that no peak falls between two samples. Undefined on other systems. */
export function readMemory(pid: number): ProcessMemory | undefined {
  const path = `/proc/${pid}/status`
  if (!existsSync(path)) return undefined
  const status = readFileSync(path, 'utf8')
  return { residentBytes: readBytes(status, 'VmRSS'), peakBytes: readBytes(status, 'VmHWM') }
}

function readBytes(status: string, name: string): number {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
  if (kibibytes === undefined) throw new Error(`no ${name} in the status of a process`)
  return Number(kibibytes) * 1024
}

/**
 * Takes the difference between the first value and the most that it ever had: never less than what really came on top.
 */
export function growthBytes(
  before: ProcessMemory | undefined,
  after: ProcessMemory | undefined,
): number | undefined {
  return before === undefined || after === undefined ? undefined : after.peakBytes - before.residentBytes
}
