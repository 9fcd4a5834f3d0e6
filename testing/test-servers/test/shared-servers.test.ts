import { expect, it } from 'vitest'
import { flavorOf, mysqlVersion } from '../src/proxy/mysql-greeting.ts'
import { postgresVersion } from '../src/proxy/postgres-answer.ts'
import { describeOn } from '../src/vitest/describe-on.ts'

for (const kind of ['mariadb', 'mysql'] as const) {
  describeOn(kind, 'a shared server', (url) => {
    it('is of the kind that was asked for', async () => {
      expect(flavorOf(await mysqlVersion(addressOf(url)))).toBe(kind)
    })
  })
}

describeOn('postgres', 'a shared server', (url) => {
  it('lets its user in', async () => {
    expect(await postgresVersion(addressOf(url))).toMatch(/^\d+/)
  })
})

function addressOf(url: string) {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}
