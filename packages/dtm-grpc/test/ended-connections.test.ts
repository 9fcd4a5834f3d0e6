import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { queryObjects } from 'node:v8'
import { PacedSocket } from '@counterstep/branch-http/paced-socket'
import { expect, it, vi } from 'vitest'
import { openGrpcFixture } from './support/grpc-fixture.ts'

const FLOODING_CLIENT = join(import.meta.dirname, 'support/flooding-client.ts')

it('A connection that ends with an error, and whose client has confirmed no settings, is not kept', async () => {
  await using fixture = await openGrpcFixture()
  const before = countConnections()
  // All were let go when their client was in this process.
  await promisify(execFile)(process.execPath, [FLOODING_CLIENT, fixture.address])
  await vi.waitFor(() => expect(countConnections()).toBeLessThanOrEqual(before), 10_000)
  using client = fixture.openClient()
  expect(await client.call('NewGid', {})).toMatchObject({ code: 0 })
  expect(fixture.errors).toEqual([])
})

function countConnections(): number {
  return Number(queryObjects(PacedSocket))
}
