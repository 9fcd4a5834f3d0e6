import { expect, it } from 'vitest'
import { creditService } from '../../src/credit-service.ts'
import { audit } from './audit.ts'
import { describeOnBoth, openPools } from './both-servers.ts'

describeOnBoth('the undo of a credit', (open) => {
  it('The undo of a credit takes the money back from an account that was frozen or emptied since', async () => {
    const pools = await openPools(await open())
    const { creditPool } = pools
    await creditPool.query("INSERT INTO account VALUES ('bob', 0, false)")
    const app = creditService(creditPool)
    const call = async (path: string, op: string) => {
      const query = { gid: 'g', trans_type: 'saga', branch_id: 'credit', op }
      const payload = { account: 'bob', cents: 100 }
      return (await app.inject({ method: 'POST', url: path, query, payload })).statusCode
    }
    expect(await call('/credit', 'action')).toBe(200)
    await creditPool.query('UPDATE account SET frozen = true, cents = 30')
    expect(await call('/credit-undo', 'compensate')).toBe(200)
    const { balances, credits } = await audit(pools)
    expect(balances).toEqual(new Map([['bob', -70]]))
    expect(credits).toEqual(new Map([['g', [100, -100]]]))
  })
})
