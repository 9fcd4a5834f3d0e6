import { expect, it } from 'vitest'
import { flavorOf, mysqlVersion } from '../src/mysql-greeting.ts'
import { postgresVersion } from '../src/postgres-answer.ts'
import { redisAnswer } from '../src/redis-answer.ts'
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

describeOn('redis', 'a shared server', (url) => {
  it('answers', async () => {
    expect(await redisAnswer(addressOf(url), ['PING'])).toBe('PONG')
  })
})

describeOn('redis-cluster', 'a shared server', (url) => {
  it('is whole at each of its three nodes', async () => {
    const nodes = url.replace('redis-cluster://', '').split(',')
    expect(nodes).toHaveLength(3)
    for (const node of nodes) {
      expect(await redisAnswer(addressOf(`redis://${node}`), ['CLUSTER', 'INFO'])).toContain(
        'cluster_state:ok',
      )
    }
  })
})

function addressOf(url: string) {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}
