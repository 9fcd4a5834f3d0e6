import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** Reads a file of the built console, which is stored compressed if it is large. Returns undefined if there is none. */
export function readBuiltFile(path: string): Buffer | undefined {
  if (existsSync(path)) return readFileSync(path)
  return existsSync(`${path}.gz`) ? gunzipSync(readFileSync(`${path}.gz`)) : undefined
}
