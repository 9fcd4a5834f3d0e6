import { execFileSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'

// The script runs in a process of its own, because this process has loaded other modules. It prints what each import
// resolved to.
const SCRIPT = `
  import { registerHooks } from 'node:module'
  const urls = []
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      urls.push(resolved.url)
      return resolved
    },
  })
  await import(process.argv[1])
  console.log(urls.join('\\n'))
`

it('Reading the settings loads no web framework, no server and no store', () => {
  const entry = pathToFileURL(`${import.meta.dirname}/../src/index.ts`).href
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', SCRIPT, entry], {
    encoding: 'utf8',
  })
  expect(loaded).toContain('/read-function-config.ts')
  expect(loaded).not.toMatch(/\/node_modules\/(?:fastify|pino|mysql2|ioredis|zod\/v4\/classic)\//)
  expect(loaded).not.toMatch(/\/packages\/(?:server|dtm|cli|store-[a-z]+)\//)
})
