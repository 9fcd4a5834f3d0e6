import { once } from 'node:events'
import { type PostgresServer, startPostgres } from '@counterstep/test-servers'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { Pool, type PoolClient } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrateBarrier, postgresBarrier } from '../../src/barrier/postgres.ts'
import { type GroupCall, groupedBranch } from '../../src/grouped/grouped.ts'
import { postgresGroupBarrier } from '../../src/grouped/postgres.ts'
import { type BarrierCall, BranchFailure } from '../../src/index.ts'

const WAITING = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
const REFUSED = new BranchFailure('no')
const UNKNOWN = { code: 'BARRIER_COMMIT_UNKNOWN' }
/** A wait of this length for a standby that does not exist never ends by itself. */
const SOON = { timeoutMs: 1_000 }

describeOwn('postgres', 'a COMMIT of a barrier that waits for a standby', () => {
  let server: PostgresServer
  let pool: Pool
  let admin: Pool
  const ends: Promise<unknown>[] = []
  beforeAll(async () => {
    server = await startPostgres()
    pool = new Pool({ connectionString: server.url, max: 4 })
    admin = new Pool({ connectionString: server.url, max: 1 })
    for (const each of [pool, admin]) each.on('connect', (client) => ends.push(once(client, 'end')))
    await migrateBarrier(pool)
    await pool.query('CREATE TABLE entry (gid text NOT NULL)')
    await pool.query(
      `CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'low'; RETURN NULL; END $$`,
    )
    await pool.query(
      'CREATE CONSTRAINT TRIGGER warns AFTER INSERT ON entry INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION warn()',
    )
  }, 120_000)
  afterAll(async () => {
    await Promise.all([pool.end(), admin.end()])
    // A session that has not ended yet would be told that the server stops, and nothing hears that any more.
    await Promise.all(ends)
    await server.stop()
  })

  /** Lets each COMMIT wait for a standby of this name, which does not exist. An empty name ends all waits. */
  async function waitForStandby(name: string): Promise<void> {
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
    await admin.query('SELECT pg_reload_conf()')
    const readName = async () => (await admin.query('SHOW synchronous_standby_names')).rows[0]
    await expect.poll(readName).toEqual({ synchronous_standby_names: name })
    // The process that lets a COMMIT wait reads the setting for itself, and later.
    if (name !== '') while (!(await doesCommitWait()));
  }

  /** Commits something else, and takes back its wait. */
  async function doesCommitWait(): Promise<boolean> {
    let hasEnded = false
    const probing = pool.query("INSERT INTO entry VALUES ('probe')").finally(() => {
      hasEnded = true
    })
    let isWaiting = false
    while (!hasEnded && !isWaiting)
      isWaiting = (await admin.query(`SELECT pg_cancel_backend(pid) ${WAITING}`)).rowCount === 1
    await probing
    return isWaiting
  }

  async function cancelWait(): Promise<void> {
    const countWaiting = async () => (await admin.query(`SELECT count(*)::int ${WAITING}`)).rows[0]
    await expect.poll(countWaiting).toEqual({ count: 1 })
    await admin.query(`SELECT pg_cancel_backend(pid) ${WAITING}`)
  }

  const insertEntry = async (client: PoolClient, { gid }: BarrierCall) => {
    await client.query('INSERT INTO entry VALUES ($1)', [gid])
    return { entered: gid }
  }
  const runAlone = (call: BarrierCall, options = {}) =>
    postgresBarrier(pool, options).run(call, (client) => insertEntry(client, call))
  const runGrouped = (call: BarrierCall, options = {}) =>
    groupedBranch(postgresGroupBarrier(pool, options), {
      key: () => 'entries',
      apply: (client, calls: readonly GroupCall<BarrierCall>[]) =>
        Promise.all(calls.map(({ entry }) => insertEntry(client, entry))),
    }).run(call, () => call)

  /** Refuses each call that has not run yet. */
  const runTogether = (calls: readonly BarrierCall[], options = {}) => {
    const { groupRunner } = postgresGroupBarrier(pool, options)
    const passes = calls.map((call) => ({ admitted: groupRunner.admit(call), entry: () => undefined }))
    return groupRunner.run(passes, async (_, running) => running.map(() => REFUSED))
  }

  for (const [way, run] of [
    ['alone', runAlone],
    ['in a group', runGrouped],
  ] as const) {
    it(`The outcome of a call ${way} is unknown when the wait is cancelled, and its repetition waits again`, async () => {
      const call: BarrierCall = { gid: `cancelled ${way}`, branchId: '01', op: 'action' }
      await waitForStandby('nobody')
      const cancelled = expect(run(call)).rejects.toMatchObject(UNKNOWN)
      await cancelWait()
      await cancelled
      await expect(run(call, SOON)).rejects.toMatchObject(UNKNOWN)
      await waitForStandby('')
      expect(await run(call)).toMatchObject({ decision: 'duplicate' })
      expect((await admin.query('SELECT count(*)::int FROM entry WHERE gid = $1', [call.gid])).rows).toEqual([
        { count: 1 },
      ])
    })
  }

  it('A group of duplicates alone waits for the standby, and so does one with a call that is refused', async () => {
    const calls = ['01', '02', '03'].map(
      (branchId): BarrierCall => ({ gid: 'together', branchId, op: 'action' }),
    )
    const [one, two, fresh] = calls as [BarrierCall, BarrierCall, BarrierCall]
    await runAlone(one)
    await runAlone(two)
    await waitForStandby('nobody')
    await expect(runTogether([one, two], SOON)).rejects.toMatchObject(UNKNOWN)
    await expect(runTogether([one, two, fresh], SOON)).rejects.toMatchObject(UNKNOWN)
    await waitForStandby('')
    const duplicate = { outcome: { decision: 'duplicate' } }
    expect(await runTogether([one, two, fresh])).toMatchObject([duplicate, duplicate, { error: REFUSED }])
    expect(
      (await admin.query('SELECT branch_id FROM counterstep_barrier WHERE gid = $1', [one.gid])).rows,
    ).toEqual([{ branch_id: '01' }, { branch_id: '02' }])
  })

  it('A query-back waits for the standby before it says that a message was committed', async () => {
    const barrier = postgresBarrier(pool, SOON)
    const gid = 'asked'
    await postgresBarrier(pool).run({ gid, branchId: '00', op: 'msg' }, () => undefined)
    await waitForStandby('nobody')
    await expect(barrier.queryPrepared(gid)).rejects.toMatchObject(UNKNOWN)
    await waitForStandby('')
    expect(await barrier.queryPrepared(gid)).toBe('committed')
  })

  it('A warning of a trigger at the COMMIT is no end of a wait', async () => {
    expect(await runAlone({ gid: 'warned', branchId: '01', op: 'action' })).toMatchObject({ decision: 'run' })
  })
})
