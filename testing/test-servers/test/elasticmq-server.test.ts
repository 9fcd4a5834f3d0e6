import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ElasticmqServer, startElasticmq } from '../src/index.ts'
import { describeOn, describeOwn } from '../src/vitest/describe-on.ts'

/** Uses the query form of SQS, which needs no client. */
async function ask(url: string, fields: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(fields) })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

describeOn('elasticmq', 'a shared server', (url) => {
  it('A shared ElasticMQ names its queues by the address at which it is reached', async () => {
    const answer = await ask(url, { Action: 'CreateQueue', QueueName: 'addressed' })
    expect(/<QueueUrl>(.*)<\/QueueUrl>/.exec(answer)?.[1]).toBe(`${url}/000000000000/addressed`)
  })

  it('A shared ElasticMQ gives back what was sent', async () => {
    await ask(url, { Action: 'CreateQueue', QueueName: 'sent' })
    await ask(`${url}/000000000000/sent`, { Action: 'SendMessage', MessageBody: 'note' })
    const received = await ask(`${url}/000000000000/sent`, { Action: 'ReceiveMessage' })
    expect(received).toContain('<Body>note</Body>')
  })
})

describeOwn('elasticmq', 'a server of its own', () => {
  let server: ElasticmqServer
  beforeAll(async () => {
    server = await startElasticmq()
  })
  afterAll(() => server.stop())

  it('An ElasticMQ has lost its queues after a restart, on the same port', async () => {
    await ask(server.url, { Action: 'CreateQueue', QueueName: 'kept' })
    expect(await ask(server.url, { Action: 'ListQueues' })).toContain('kept')
    await server.restart()
    expect(await ask(server.url, { Action: 'ListQueues' })).not.toContain('kept')
  })
})
