import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, startRedis, startTcpProxy } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { eventually } from './eventually.ts'
import { expectUnavailable } from './expect-unavailable.ts'
import { openedForTests } from './open-stores.ts'
import { aTransaction, finished, read } from './transactions.ts'

/**
 * The folder has an authority that was made for these tests, and its certificate for the name redis.test. The
 * authority's key no longer exists.
 */
const CERTIFICATES = join(import.meta.dirname, 'certificates')
const certificate = (name: string) => join(CERTIFICATES, `${name}.pem`)

describeOwn('redis', 'a Redis behind TLS', () => {
  const { open } = openedForTests('as-given')

  it('A Redis behind TLS is trusted by its authority and its name, and not otherwise', async () => {
    const port = await freePort()
    const files = ['--tls-cert-file', certificate('server'), '--tls-key-file', certificate('server-key')]
    const server = await startRedis({
      settings: [
        ...['--tls-port', String(port), ...files, '--tls-ca-cert-file', certificate('authority')],
        ...['--tls-auth-clients', 'no'],
      ],
    })
    try {
      const url = `rediss://127.0.0.1:${port}`
      const ca = await readFile(certificate('authority'), 'utf8')
      await expectUnavailable(open(url), 'no')
      await expectUnavailable(open(url, { tls: { ca } }), 'no')
      await expectUnavailable(open(url, { tls: { ca, serverName: 'other.test' } }), 'no')
      await expectUnavailable(
        open(`redis://127.0.0.1:${port}`, { connectTimeoutMs: 500, commandTimeoutMs: 500 }),
        'no',
      )
      const { store } = await open(url, { tls: { ca, serverName: 'redis.test' } })
      const text = 'x'.repeat(1_000_000)
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.create(aTransaction(`t-${i}`, { definition: text }))),
      )
      expect((await read(store, 't-7')).definition).toBe(text)
      await finished(store, 'end')
      const proxy = await startTcpProxy({ host: '127.0.0.1', port })
      const { store: cut } = await open(proxy.through(url), {
        ...{ tls: { ca, serverName: 'redis.test' }, commandTimeoutMs: 500 },
      })
      proxy.blackHole()
      const startAt = performance.now()
      await expectUnavailable(cut.create(aTransaction('lost')), 'unknown')
      expect(performance.now() - startAt).toBeLessThan(1_500)
      proxy.heal()
      await eventually('it is connected again', () =>
        cut.create(aTransaction('back')).then(
          () => true,
          () => false,
        ),
      )
      await cut.close()
      await proxy.close()
    } finally {
      await server.stop()
    }
  })
})
