import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Flushes a file or a folder that is opened with these flags. */
export function syncPlace(place: string, flags: 'r' | 'r+'): void {
  const handle = openSync(place, flags)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
