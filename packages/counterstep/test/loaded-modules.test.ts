import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Prints the URLs of all modules that importing one loads. */
const PRINT_LOADED = `
import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
await import(process.argv[1])
console.log(JSON.stringify(loaded))`

const WATCHED = ['fastify', 'ioredis', 'mysql2', 'zod']

/** Returns the watched packages that an entry loads. */
function listLoaded(entry: string): readonly string[] {
  const cwd = join(import.meta.dirname, '..')
  const args = ['--input-type=module', '--eval', PRINT_LOADED, `counterstep${entry.slice(1)}`]
  const urls: readonly string[] = JSON.parse(execFileSync(process.execPath, args, { cwd, encoding: 'utf8' }))
  return WATCHED.filter((name) => urls.some((url) => url.includes(`/node_modules/${name}/`)))
}

describe('the entry of the package', () => {
  for (const [entry, loaded] of [
    ['.', []],
    ['./fastify', ['fastify']],
    // The functions read their settings with zod.
    ['./lambda', ['zod']],
    ['./store/mysql', ['mysql2']],
    ['./store/redis', ['ioredis']],
    ['./store/sqlite', []],
  ] as const) {
    it(`The entry ${entry} loads ${loaded.length === 0 ? 'neither a framework nor a driver' : `${loaded} alone`}`, () => {
      expect(listLoaded(entry)).toEqual(loaded)
    })
  }
})
