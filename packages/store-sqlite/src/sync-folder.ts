import { syncPlace } from './sync-place.ts'

/** A new file's name is durable only when its folder is. */
export function syncFolder(folder: string): void {
  if (process.platform !== 'win32') syncPlace(folder, 'r')
}
