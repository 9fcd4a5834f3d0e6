import { stat } from 'node:fs/promises'
import { readSigningKeyFile } from '@counterstep/configuration'
import type { SigningKey } from '@counterstep/signature'

const LOOK_MS = 1_000

export interface SigningKeyEvents {
  onKey(key: SigningKey): void
  /** A sentence; the key before it goes on signing. */
  onProblem(problem: string): void
}

export interface WatchedSigningKey {
  current(): SigningKey
  close(): void
}

/**
 * The key in a file, and the next one when the file has changed: looked at once a second, off the way of the calls. A
 * file that is gone, half written or open to others changes nothing, and is looked at again. Throws if there is no key
 * to begin with.
 */
export function watchSigningKey(path: string, events: SigningKeyEvents, lookMs = LOOK_MS): WatchedSigningKey {
  const first = readSigningKeyFile(path)
  if ('problem' in first) throw new Error(`the signing key ${first.problem}`)
  let key = first.value
  let stamp: string | undefined
  let problem: string | undefined
  let isLooking = false

  async function look(): Promise<void> {
    const found = await stampOf(path)
    if (found === stamp && found !== undefined) return
    const read = readSigningKeyFile(path)
    if ('problem' in read) {
      if (read.problem !== problem)
        events.onProblem(`--signing-key-file ${read.problem}; the key before it goes on`)
      problem = read.problem
      return
    }
    problem = undefined
    stamp = found
    if (read.value.keyId === key.keyId && read.value.key.equals(key.key)) return
    key = read.value
    events.onKey(key)
  }

  const timer = setInterval(() => {
    // A file system that hangs shall not pile up questions.
    if (isLooking) return
    isLooking = true
    void look().finally(() => {
      isLooking = false
    })
  }, lookMs)
  timer.unref()
  return { current: () => key, close: () => clearInterval(timer) }
}

/** Tells one state of a file from another; undefined if there is none. A rename brings another inode. */
async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path)
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
  } catch (error: unknown) {
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}
