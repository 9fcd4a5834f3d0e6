import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The program, where it is installed. */
export function findWrk(path = process.env.PATH ?? ''): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, 'wrk'))
    .find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
