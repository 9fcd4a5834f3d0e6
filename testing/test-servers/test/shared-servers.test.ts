import { expect, it } from 'vitest'
import { mysqlVersion, readFlavor } from '../src/proxy/mysql-greeting.ts'
import { postgresVersion } from '../src/proxy/postgres-answer.ts'
import { describeOn } from '../src/vitest/describe-on.ts'

for (const kind of ['mariadb', 'mysql'] as const) {
  describeOn(kind, 'a shared server', (url) => {
    it('A shared SQL server is of the kind that was asked for', async () => {
      expect(readFlavor(await mysqlVersion(parseAddress(url)))).toBe(kind)
    })
  })
}

for (const kind of ['postgres', 'postgres18', 'pgbouncer'] as const) {
  describeOn(kind, 'a shared server', (url) => {
    it('A shared PostgreSQL lets its user in', async () => {
      const version = await postgresVersion(parseAddress(url))
      expect(version).toMatch(kind === 'postgres18' ? /^18\./ : /^\d+/)
    })
  })
}

function parseAddress(url: string) {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}
