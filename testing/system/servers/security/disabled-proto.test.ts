import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { startBranchService, submit } from '../../../../packages/cli/test/branch-service.ts'
import { ServeProcess } from '../../../../packages/cli/test/serve-process.ts'
import { ownStore } from '../several-nodes/own-store.ts'

for (const server of ['mariadb', 'mysql', 'postgres', 'redis'] as const) {
  describeOn(server, 'where touching __proto__ throws', (serverUrl) => {
    it('S25: A server runs a saga on its driver where touching __proto__ throws', {
      timeout: 60_000,
    }, async () => {
      const { url: store, drop } = await ownStore(serverUrl)
      const branch = await startBranchService()
      const args = ['serve', '--ready-json', '--port', '0', '--store', store]
      const process = new ServeProcess(args, { NODE_OPTIONS: '--disable-proto=throw' })
      const answer = await submit(await process.url(), { branches: [{ action: branch.url }] }, 10)
      expect(await answer.json()).toMatchObject({ status: 'succeeded' })
      process.signal('SIGTERM')
      expect((await process.ended()).code).toBe(0)
      branch.close()
      await drop()
    })
  })
}
