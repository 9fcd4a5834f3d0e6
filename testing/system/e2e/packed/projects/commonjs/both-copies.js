// A process that has both copies: it requires the SDK, and a library of its imports it.
const assert = require('node:assert')
const { DatabaseSync } = require('node:sqlite')

const call = (gid) => ({
  url: `http://bank.test/?gid=${gid}&trans_type=saga&branch_id=01&op=action`,
  headers: {},
  payload: 1,
})

async function main() {
  const required = {
    ...require('@counterstep/sdk'),
    ...require('@counterstep/sdk/barrier/sqlite'),
    ...require('@counterstep/sdk/grouped'),
    ...require('@counterstep/sdk/grouped/sqlite'),
  }
  const imported = {
    ...(await import('@counterstep/sdk')),
    ...(await import('@counterstep/sdk/barrier/sqlite')),
    ...(await import('@counterstep/sdk/grouped')),
    ...(await import('@counterstep/sdk/grouped/sqlite')),
  }
  assert.notStrictEqual(required.BranchFailure, imported.BranchFailure)
  for (const [one, other] of [
    [required, imported],
    [imported, required],
  ]) {
    assert(one.isBranchFailure(new other.BranchFailure('no')))
    assert(one.isBranchOngoing(new other.BranchOngoing()))
    assert(one.isBranchError(new other.BranchError('BARRIER_TIMED_OUT', 'late')))
    const refused = new other.RefusedError('SAGA_INVALID', 'no', { status: 400, faults: [] })
    assert(one.isRefused(refused) && one.isCounterstepError(refused))

    // The handler of one copy passes the barrier of the other one, and throws the errors of that.
    const database = new DatabaseSync(':memory:')
    one.migrateBarrier(database)
    const answerOf = (gid, handler) => other.answerBranch(one.sqliteBarrier(database), handler, call(gid))
    const failed = await answerOf('refused', () => {
      throw new one.BranchFailure('no', { code: 'NO_MONEY' })
    })
    assert.deepStrictEqual([failed.answer.statusCode, JSON.parse(failed.answer.body).code], [409, 'NO_MONEY'])
    const counted = [
      await answerOf('counted', () => ({ n: 1 })),
      await answerOf('counted', () => ({ n: 2 })),
    ]
    assert.deepStrictEqual(
      counted.map(({ answer }) => answer.body),
      ['{"n":1}', '{"n":1}'],
    )

    // So do calls in groups, whose results one copy makes and the other reads.
    const apply = (_tx, calls) => calls.map(() => one.takeOut(new one.BranchFailure('full')))
    const grouped = other.groupedBranch(one.sqliteGroupBarrier(database), { key: () => 'seat', apply })
    const { answer } = await other.answerBranch(grouped, () => 1, call('grouped'))
    assert.strictEqual(answer.statusCode, 409)
  }
  console.log('both copies understand each other')
}

main()
