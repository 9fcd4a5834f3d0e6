import { closeSync, fsyncSync, openSync } from 'node:fs'

/** A new file's name is durable only when its folder is. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
