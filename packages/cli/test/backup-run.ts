import type { TransactionView } from '@counterstep/protocol'
import { expect } from 'vitest'
import { startBranchService, submit } from './branch-service.ts'
import type { ServeProcess } from './serve-process.ts'

export interface BackedUpStore {
  /** Starts a server on the store, or on the restored one after `restore`. */
  serve(): ServeProcess
  /** Makes the backup while a server runs. */
  backUp(): Promise<void>
  /** Restores the backup while no server runs. */
  restore(): Promise<void>
}

/**
 * One saga has ended and a second one waits when the backup is made, and a third is accepted after it. The restored store
 * has the first, which stays as it was, and the second, which goes on. The third is unknown there, and runs when it is
 * submitted again.
 */
export async function expectRestore({ serve, backUp, restore }: BackedUpStore): Promise<void> {
  let isReleased = false
  const branch = await startBranchService(0, (path) => (path === '/go/held' && !isReleased ? 425 : 200))
  try {
    const buildSaga = (gid: string, path = '') => ({
      gid,
      branches: [{ action: branch.url }, { action: `${branch.url}${path}` }],
    })
    const first = serve()
    const url = await first.url()
    expect(await viewIn(await submit(url, buildSaga('ended'), 10))).toMatchObject({ status: 'succeeded' })
    expect(await viewIn(await submit(url, buildSaga('held', '/held'), 1))).toMatchObject({
      status: 'submitted',
    })
    await backUp()
    expect(await viewIn(await submit(url, buildSaga('later'), 10))).toMatchObject({ status: 'succeeded' })
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
    expect(await viewIn(await submit(restored, buildSaga('later'), 10))).toMatchObject({
      status: 'succeeded',
    })
    second.signal('SIGTERM')
    expect((await second.ended()).code).toBe(0)
  } finally {
    branch.close()
  }
}

async function viewIn(response: Response): Promise<TransactionView> {
  return (await response.json()) as TransactionView
}
