import { stat } from 'node:fs/promises'
import { readSigningKeyFile } from '@counterstep/configuration'
import type { SigningKey } from '@counterstep/signature'

const CHECK_MS = 1_000

export interface SigningKeyEvents {
  onKey(key: SigningKey): void
  /** It gets a sentence that says why the file cannot be used. The previous key goes on signing. */
  onProblem(problem: string): void
}

export interface WatchedSigningKey {
  current(): SigningKey
  close(): void
}

/**
 * Reads the key in a file, and reads it again when the file has changed. The file is checked once a second, so calls do
 * not wait for it. If it is missing, half written or open to other users, the previous key stays and the next check
 * tries again. Throws if there is no usable key at the start.
 */
export function watchSigningKey(
  path: string,
  events: SigningKeyEvents,
  checkMs = CHECK_MS,
): WatchedSigningKey {
  const first = readSigningKeyFile(path)
  if ('problem' in first) throw new Error(`the signing key ${first.problem}`)
  let key = first.value
  let stamp: string | undefined
  let problem: string | undefined
  let isChecking = false

  async function checkFile(): Promise<void> {
    const found = await readStamp(path)
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
    // If the file system hangs, further checks must not pile up behind the first.
    if (isChecking) return
    isChecking = true
    void checkFile().finally(() => {
      isChecking = false
    })
  }, checkMs)
  timer.unref()
  return { current: () => key, close: () => clearInterval(timer) }
}

/**
 * Reads a text that differs between two states of a file. The inode belongs to it, since a rename brings another one.
 * Returns undefined if there is no file.
 */
async function readStamp(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path)
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
  } catch (error: unknown) {
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}
