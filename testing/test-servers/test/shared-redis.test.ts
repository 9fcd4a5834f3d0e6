import { expect, it } from 'vitest'
import { redisAnswer } from '../src/proxy/redis-answer.ts'
import { describeOn } from '../src/vitest/describe-on.ts'

describeOn('redis', 'a shared server', (url) => {
  it('A shared Redis answers', async () => {
    expect(await redisAnswer(parseAddress(url), ['PING'])).toBe('PONG')
  })
})

describeOn('redis-cluster', 'a shared server', (url) => {
  it('A shared Redis Cluster is whole at each of its three nodes', async () => {
    const nodes = url.replace('redis-cluster://', '').split(',')
    expect(nodes).toHaveLength(3)
    for (const node of nodes) {
      expect(await redisAnswer(parseAddress(`redis://${node}`), ['CLUSTER', 'INFO'])).toContain(
        'cluster_state:ok',
      )
    }
  })
})

function parseAddress(url: string) {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}
