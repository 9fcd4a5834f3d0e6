import type { TransactionView } from '@counterstep/protocol'
import { expect } from 'vitest'
import { startBranchService, submit } from './branch-service.ts'
import type { ServeProcess } from './serve-process.ts'

export interface BackedUpStore {
  /** On the store; after `restore`, on what was restored. */
  serve(): ServeProcess
  /** While a server runs. */
  backUp(): Promise<void>
  /** While none runs. */
  restore(): Promise<void>
}

/**
 * One saga has ended and one waits when the backup is made, and one is accepted after it. The restored store has the first
 * two: the one goes on, and the other stays as it was. The third is unknown, and runs when it is submitted again.
 */
export async function expectRestore({ serve, backUp, restore }: BackedUpStore): Promise<void> {
  let isReleased = false
  const branch = await startBranchService(0, (path) => (path === '/go/held' && !isReleased ? 425 : 200))
  try {
    const sagaOf = (gid: string, path = '') => ({
      gid,
      branches: [{ action: branch.url }, { action: `${branch.url}${path}` }],
    })
    const first = serve()
    const url = await first.url()
    expect(await viewIn(await submit(url, sagaOf('ended'), 10))).toMatchObject({ status: 'succeeded' })
    expect(await viewIn(await submit(url, sagaOf('held', '/held'), 1))).toMatchObject({ status: 'submitted' })
    await backUp()
    expect(await viewIn(await submit(url, sagaOf('later'), 10))).toMatchObject({ status: 'succeeded' })
    first.signal('SIGKILL')
    await first.ended()
    await restore()
    isReleased = true
    const second = serve()
    const restored = await second.url()
    const get = (gid: string) => fetch(`${restored}/v1/transactions/${gid}`)
    expect(await viewIn(await get('ended'))).toMatchObject({ status: 'succeeded' })
    expect((await get('later')).status).toBe(404)
    await expect
      .poll(async () => (await viewIn(await get('held'))).status, { timeout: 20_000 })
      .toBe('succeeded')
    expect(await viewIn(await submit(restored, sagaOf('later'), 10))).toMatchObject({ status: 'succeeded' })
    second.signal('SIGTERM')
    expect((await second.ended()).code).toBe(0)
  } finally {
    branch.close()
  }
}

async function viewIn(response: Response): Promise<TransactionView> {
  return (await response.json()) as TransactionView
}
