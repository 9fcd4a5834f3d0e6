import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { Cohort } from './cohort.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('lets all that have joined in one turn go on in it, in their order', async () => {
  const cohort = new Cohort()
  const steps: string[] = []
  const member = async (name: string) => {
    await cohort.join()
    steps.push(name)
  }
  const members = [member('a'), member('b')]
  // Another event of the same turn.
  await Promise.resolve()
  members.push(member('c'))
  expect(steps).toEqual([])
  await turn()
  expect(steps).toEqual(['a', 'b', 'c'])
  await Promise.all(members)
})

it('takes who joins while the others go on into the next turn, and leaves nobody behind', async () => {
  const cohort = new Cohort()
  const steps: string[] = []
  const twice = async () => {
    await cohort.join()
    steps.push('first')
    await cohort.join()
    steps.push('second')
  }
  await Promise.all([twice(), twice()])
  expect(steps).toEqual(['first', 'first', 'second', 'second'])
})

it('does not wait for a further event', async () => {
  const cohort = new Cohort()
  const server = createServer(async (_request, response) => {
    await cohort.join()
    response.end('taken')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const [answer] = await once(get({ port: (server.address() as AddressInfo).port }), 'response')
    expect(answer.statusCode).toBe(200)
    answer.resume()
    await once(answer, 'end')
  } finally {
    server.close()
  }
})
