import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { type Command, readCommand } from '../src/config.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterstep-drivers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// The script runs in a process of its own, because this one has loaded other modules. It prints what any import
// resolved to, and which modules of Node itself were loaded.
const SCRIPT = join(folder, 'print-imports.mjs')
writeFileSync(
  SCRIPT,
  `
  import { registerHooks } from 'node:module'
  const urls = []
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      urls.push(resolved.url)
      return resolved
    },
  })
  const [serveUrl, openStoreUrl, config] = process.argv.slice(2)
  await import(serveUrl)
  const { openStore } = await import(openStoreUrl)
  const listeners = { onBroken() {}, onEvent() {} }
  await openStore(JSON.parse(config), listeners).then((store) => store.close(), () => undefined)
  console.log([...urls, ...process.moduleLoadList].join('\\n'))
`,
)

function listImports(store: string): string {
  const command: Command = readCommand(['serve', '--store', store], {})
  if (command.type !== 'serve') throw new Error(JSON.stringify(command))
  const source = (file: string) => pathToFileURL(join(import.meta.dirname, '../src', file)).href
  const args = [SCRIPT, source('serve.ts'), source('open-store.ts'), JSON.stringify(command.config.store)]
  return execFileSync(process.execPath, args, { encoding: 'utf8' })
}

// Nothing listens at port 1: a store is loaded before its connection is refused there.
const DRIVERS = [
  [join(folder, 'a.db'), 'store-sqlite', /store-mysql|store-postgres|store-redis|mysql2|ioredis|\/pg\//],
  ['mysql://u@127.0.0.1:1/x', '/mysql2/', /store-sqlite|store-postgres|store-redis|ioredis|\/pg\//],
  ['postgres://u@127.0.0.1:1/x', '/pg/', /store-sqlite|store-mysql|store-redis|mysql2|ioredis/],
  ['redis://127.0.0.1:1', '/ioredis/', /store-sqlite|store-mysql|store-postgres|mysql2|\/pg\//],
] as const
for (const [store, loaded, notLoaded] of DRIVERS) {
  it(`Opening ${store.replace(folder, '')} loads no other store's driver`, () => {
    const urls = listImports(store)
    expect(urls).toContain(loaded)
    expect(urls).not.toMatch(notLoaded)
  })
}

const BUILT_IN_FETCH = 'NativeModule internal/deps/undici/undici'

// An import of node:http reads all its exports, and so loads this: 40 ms of each start.
it('A start does not load the built-in fetch', () => {
  const loaded = listImports('redis://127.0.0.1:1')
  expect(loaded).toContain('NativeModule _http_server')
  expect(loaded).not.toContain(BUILT_IN_FETCH)
  const byImport = "await import('node:http'); console.log(process.moduleLoadList.join('\\n'))"
  const control = execFileSync(process.execPath, ['--input-type=module', '-e', byImport], {
    encoding: 'utf8',
  })
  expect(control).toContain(BUILT_IN_FETCH)
})

it('The HTTP API loads zod when its OpenAPI document is read, and not before', () => {
  const face = pathToFileURL(join(import.meta.dirname, '../../server/src/index.ts')).href
  const script = `
    import { registerHooks } from 'node:module'
    let hasZod = false
    registerHooks({
      resolve(specifier, context, next) {
        hasZod ||= specifier === 'zod'
        return next(specifier, context)
      },
    })
    const { buildApp } = await import('${face}')
    const app = buildApp({ engine: { health: () => ({}), waitForTurn: async () => {} } })
    await app.ready()
    const before = hasZod
    const { statusCode } = await app.inject({ url: '/openapi.json' })
    console.log(JSON.stringify({ before, statusCode, after: hasZod }))
  `
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(JSON.parse(printed)).toEqual({ before: false, statusCode: 200, after: true })
})
