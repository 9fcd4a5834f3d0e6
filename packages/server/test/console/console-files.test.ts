import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { ConnectionBounds, createGate, DEFAULT_CONNECTION_LIMITS, readBearerKey } from '@counterstep/access'
import { type FastifyInstance, fastify } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addNativeApi, buildApp, createLogger, createRegistry } from '../../src/index.ts'
import { createScriptedEngine } from '../scripted-engine.ts'

const SCRIPT = `${'export const text = "counterstep"\n'.repeat(50)}`
const PAGE =
  '<!doctype html><title>Counterstep</title><script type="module" src="./assets/main-AbC123xy.js"></script>'

let folder: string
let root: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-console-'))
  root = join(folder, 'built')
  await mkdir(join(root, 'assets'), { recursive: true })
  await writeFile(join(root, 'index.html'), PAGE)
  await writeFile(join(root, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  await writeFile(join(root, '.hidden.js'), 'secret')
  await writeFile(join(root, 'assets', 'main-AbC123xy.js.gz'), gzipSync(SCRIPT))
  await writeFile(join(folder, 'outside.txt'), 'secret')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Every caller needs a key, and the files none. */
function buildConsoleApp(): FastifyInstance {
  const gate = createGate({ keys: { find: () => undefined }, credentials: readBearerKey })
  return buildApp({ engine: createScriptedEngine(), gate, console: { directory: () => root } })
}

/** Asks for a path as it is written, which a client would make shorter. */
function askAsWritten(app: FastifyInstance, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { port: (app.server.address() as AddressInfo).port, path, agent: false },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
        )
      },
    )
    asked.on('error', reject)
    asked.end()
  })
}

const SCRIPT_URL = '/console/assets/main-AbC123xy.js'

describe('S30: the files of the console', () => {
  it('The page is served without a key, is never cached, and forbids whatever it does not need', async () => {
    const answer = await buildConsoleApp().inject({ url: '/console/' })
    expect([answer.statusCode, answer.body]).toEqual([200, PAGE])
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    })
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  it('Each answer under the path has these headers, whatever it is', async () => {
    const app = buildConsoleApp()
    const all = [
      await app.inject({ url: '/console' }),
      await app.inject({ url: '/console/' }),
      await app.inject({ url: SCRIPT_URL }),
      await app.inject({ url: SCRIPT_URL, headers: { 'accept-encoding': 'gzip' } }),
      await app.inject({ method: 'HEAD', url: SCRIPT_URL }),
      await app.inject({ url: SCRIPT_URL, headers: { range: 'bytes=9999999-' } }),
      await app.inject({ url: '/console/nothing.js' }),
      await app.inject({ url: '/console/..%2foutside.txt' }),
      await app.inject({ method: 'POST', url: '/console/' }),
      await app.inject({ method: 'DELETE', url: '/console/x' }),
    ]
    expect(all.map(({ statusCode }) => statusCode)).toEqual([
      302, 200, 200, 200, 200, 200, 404, 404, 405, 405,
    ])
    for (const { headers } of all) {
      expect(headers['content-security-policy']).toContain("default-src 'none'")
      expect(headers['x-content-type-options']).toBe('nosniff')
    }
  })

  it('A file comes compressed as its caller takes it, and whole without', async () => {
    const app = buildConsoleApp()
    const ask = (encodings?: string) =>
      app.inject({
        url: SCRIPT_URL,
        headers: encodings === undefined ? {} : { 'accept-encoding': encodings },
      })
    const [browser, gzip] = [await ask('gzip, deflate, br, zstd'), await ask('GZIP; q=0.5')]
    const [plain, none] = [await ask(), await ask('br, gzip;q=0.00, x-gzip')]
    expect(gunzipSync(browser.rawPayload).toString()).toBe(SCRIPT)
    expect(gunzipSync(gzip.rawPayload).toString()).toBe(SCRIPT)
    expect(plain.body).toBe(SCRIPT)
    expect(none.body).toBe(SCRIPT)
    const all = [browser, gzip, plain, none]
    expect(all.map(({ headers }) => headers['content-encoding'])).toEqual([
      'gzip',
      'gzip',
      undefined,
      undefined,
    ])
    for (const { headers } of all) {
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect(headers['content-type']).toMatch(/javascript/)
      expect(headers.vary).toBe('accept-encoding')
    }
  })

  it('HEAD is answered without the file, and a range with all of it', async () => {
    const app = buildConsoleApp()
    const head = await app.inject({ method: 'HEAD', url: SCRIPT_URL })
    expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([
      200,
      '',
      String(SCRIPT.length),
    ])
    const whole = await app.inject({ url: SCRIPT_URL, headers: { range: 'bytes=0-5' } })
    expect([whole.statusCode, whole.body]).toEqual([200, SCRIPT])
    const icon = await app.inject({ url: '/console/favicon.svg' })
    expect(icon.headers['cache-control']).toBe('no-cache')
  })

  it('The files are read once, and again only after they could not be read', async () => {
    const copy = await mkdtemp(join(tmpdir(), 'counterstep-console-'))
    let asked = 0
    const directory = async () => {
      asked += 1
      if (asked === 1) throw new Error('the build is not there yet')
      return copy
    }
    const app = buildApp({ engine: createScriptedEngine(), console: { directory } })
    expect((await app.inject({ url: '/console/' })).statusCode).toBe(500)
    await writeFile(join(copy, 'index.html'), PAGE)
    expect((await app.inject({ url: '/console/' })).body).toBe(PAGE)
    await rm(copy, { recursive: true })
    expect([(await app.inject({ url: '/console/' })).body, asked]).toEqual([PAGE, 2])
  })

  it('No path leaves the folder, shows a hidden file, or names a compressed one', async () => {
    const app = buildConsoleApp()
    await app.listen({ port: 0, host: '127.0.0.1' })
    const paths = [
      '../outside.txt',
      '..%2foutside.txt',
      '..%5coutside.txt',
      '%2e%2e/outside.txt',
      '%2e%2e%2foutside.txt',
      'assets/../../outside.txt',
      'assets/..%2f..%2foutside.txt',
      '..;/outside.txt',
      '%00',
      'index.html%00.js',
      '%252e%252e%252foutside.txt',
      '/etc/passwd',
      '%2fetc%2fpasswd',
      '//etc/passwd',
      'C:/Windows/win.ini',
      '.hidden.js',
      'assets/./main-AbC123xy.js',
      'assets//main-AbC123xy.js',
      'assets',
      'assets/',
      'assets/main-AbC123xy.js.gz',
      'INDEX.HTML',
      'index.html/',
      `${'a'.repeat(2_000)}`,
    ]
    for (const path of paths) {
      const { status, body } = await askAsWritten(app, `/console/${path}`)
      expect([path, status >= 400 && status < 500]).toEqual([path, true])
      expect(body).not.toContain('secret')
    }
    await app.close()
  })

  it('The path without its last slash leads to the page by a relative address', async () => {
    const answer = await buildConsoleApp().inject({ url: '/console?x=1' })
    expect([answer.statusCode, answer.headers.location]).toEqual([302, 'console/'])
  })

  it('The files stand under the prefix of the API', async () => {
    const app = fastify()
    const deps = {
      engine: createScriptedEngine(),
      bounds: new ConnectionBounds(DEFAULT_CONNECTION_LIMITS),
      gate: createGate({ credentials: readBearerKey }),
      registry: createRegistry(),
      logger: createLogger({ level: 'silent' }),
      version: '0.1.0',
      page: 'none',
      handlerTimeoutMs: 1_000,
      console: { directory: () => root },
    } as const
    app.register(async (scope) => addNativeApi(scope, deps), { prefix: '/tools/saga' })
    expect((await app.inject({ url: '/tools/saga/console/' })).body).toBe(PAGE)
    expect((await app.inject({ url: '/tools/saga/console' })).headers.location).toBe('console/')
    expect((await app.inject({ url: '/console/' })).statusCode).toBe(404)
  })

  it('Without the console there is nothing under its path, and no login', async () => {
    const app = buildApp({ engine: createScriptedEngine() })
    expect((await app.inject({ url: '/console/' })).statusCode).toBe(404)
    expect((await app.inject({ method: 'POST', url: '/v1/session' })).statusCode).toBe(405)
    expect((await app.inject({ url: '/' })).json().links).not.toHaveProperty('console')
    const withConsole = buildApp({ engine: createScriptedEngine(), console: { directory: () => root } })
    expect((await withConsole.inject({ url: '/' })).json().links).toHaveProperty('console', '/console/')
  })

  it('Everything else of the API needs a key beside the console', async () => {
    const app = buildConsoleApp()
    for (const url of ['/', '/v1/transactions', '/v1/session', '/metrics', '/openapi.json', '/docs'])
      expect([url, (await app.inject({ url })).statusCode]).toEqual([url, 401])
  })
})
