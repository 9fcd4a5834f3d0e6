import { KIND_CODES, type ListOrder } from '@counterstep/core'
import { describeOn } from '@counterstep/test-servers/vitest'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STATEMENTS } from '../src/generated/sql.ts'
import { openPostgresStore } from '../src/open-postgres-store.ts'
import { ORDER_BY, toCursorRange, toPrefixRange } from '../src/reads/list-parts.ts'
import type { Value } from '../src/sessions/session.ts'
import { numberParameters } from '../src/sql/number-parameters.ts'
import { withClock } from '../src/sql/with-clock.ts'
import { writeFlush } from '../src/writes/flush-statement.ts'
import { toPendingCreate, toPendingUpdate } from '../src/writes/pending-writes.ts'
import { testDatabases } from './test-database.ts'
import { asGid, aTransaction, makeUpdate } from './transactions.ts'

const ROWS = 200_000
const TURNS = 40
const ROWS_PER_TURN = 16
/** Only a statement with a name may be planned for any values. The others are planned for theirs. */
const MODES = ['force_custom_plan', 'force_generic_plan']
const noAnswer = () => undefined

type Plan = readonly [sql: string, values: readonly Value[], indexes: readonly string[]]

const GIDS = Array.from({ length: 50 }, (_, i) => `g-${i * 1_000 + 1}`)
const TOKENS = GIDS.map((gid) => `token-${gid}`)
const creates = ['new-1', 'new-2'].map((gid) =>
  toPendingCreate(aTransaction(gid, { tags: { region: 'eu' } }), noAnswer, noAnswer),
)
const updates = GIDS.map((gid) =>
  toPendingUpdate(makeUpdate({ gid: asGid(gid), token: 'x' }), noAnswer, noAnswer),
)
const flush = writeFlush(creates, updates)
const prefix = toPrefixRange('g-1000')

/** Each statement has its values, and the indexes by which it must find its rows. */
const PLANS: Readonly<Record<string, Plan>> = {
  flush: [flush.sql, flush.values ?? [], ['counterstep_gid']],
  'look at rows': [numberParameters(STATEMENTS.readKeys), [GIDS], ['counterstep_gid']],
  'read many': [numberParameters(STATEMENTS.readMany), [GIDS], ['counterstep_gid']],
  'find final': [numberParameters(STATEMENTS.findFinal), [GIDS], ['counterstep_gid']],
  renew: [withClock(STATEMENTS.renew), [GIDS, TOKENS, 1_000], ['counterstep_gid']],
  'claim one': [withClock(STATEMENTS.claimOne), ['x', 1_000, 'g-1', 1], ['counterstep_gid']],
  'claim due': [
    withClock(STATEMENTS.claimDue),
    [1, 50, 4_194_304, TOKENS, 1_000],
    ['counterstep_due', 'counterstep_gid'],
  ],
  'postpone due': [withClock(STATEMENTS.postponeDue), [1, 50, 1_000], ['counterstep_due', 'counterstep_gid']],
  // The planner walks the tags for ten times as many rows, while there are fewer than some millions of tags.
  purge: [withClock(STATEMENTS.purge), [100], ['counterstep_due', 'counterstep_gid', 'counterstep_tag']],
  'count prefixed': [
    numberParameters(STATEMENTS.countPrefixed),
    [...prefix.values, 10_001],
    ['counterstep_gid'],
  ],
  'count tagged': [numberParameters(STATEMENTS.countTagged), ['region:r7', 10_000], ['counterstep_tag']],
  'list by accept': [
    writeList('created'),
    [1_000_000, 'g-1', 101, KIND_CODES.saga, 100],
    ['counterstep_created'],
  ],
  'list by due': [
    writeList('due', 'live = 1 AND '),
    [1, 'g-1', 101, KIND_CODES.saga, 100],
    ['counterstep_due'],
  ],
  'list with a prefix': [
    writePrefixed(),
    [...prefix.values, 1_000_000, 'g-1', 101, 100],
    ['counterstep_gid'],
  ],
}

function writeList(order: ListOrder, live = ''): string {
  const { sql } = toCursorRange(order, { at: 0, gid: asGid('') })
  return complete('counterstep_transactions', `${live}${sql}`, 'kind = ?', order)
}

/** The rows with the prefix are few, and are sorted. */
function writePrefixed(): string {
  const source = `(SELECT * FROM counterstep_transactions WHERE ${prefix.sql} OFFSET 0) prefixed`
  return complete(source, toCursorRange('created', { at: 0, gid: asGid('') }).sql, 'TRUE', 'created')
}

function complete(source: string, range: string, filters: string, order: ListOrder): string {
  const text = STATEMENTS.list
    .replace('/*source*/', source)
    .replace('/*range*/', range)
    .replace('/*filters*/', filters)
    .replaceAll('/*order*/', ORDER_BY[order])
  return numberParameters(text)
}

for (const server of ['postgres', 'postgres18'] as const) {
  describeOn(server, 'the plans of the statements', (serverUrl) => {
    const databases = testDatabases(serverUrl)
    let client: pg.Client

    beforeAll(async () => {
      const { url, ownerUrl } = await databases.migrated('plans')
      const store = await openPostgresStore({ url })
      await store.create(aTransaction('template'))
      await store.close()
      client = new pg.Client({ connectionString: ownerUrl })
      await client.connect()
      for (const table of ['transactions', 'tags'])
        await client.query(`ALTER TABLE counterstep_${table} SET (autovacuum_enabled = off)`)
      const columns = `updated_at, version, epoch, format, claims, kind, status, owned, sent_list, retrying, attention, attempts,
        marks, token, write_id, digest, progress, definition`
      // Nine in ten rows are final, as in a store that keeps them for a while.
      await client.query(
        `INSERT INTO counterstep_transactions (gid, live, due_at, created_at, tags, ${columns})
          SELECT 'g-' || n, CASE n % 10 WHEN 0 THEN 1 ELSE 0 END, n, n, E'\\norder:' || n || E'\\nregion:r' || n % 50 || E'\\n', ${columns}
          FROM counterstep_transactions, generate_series(1, ${ROWS}) n WHERE gid = 'template'`,
      )
      await client.query(
        `INSERT INTO counterstep_tags (tag, created_at, gid)
          SELECT tag, n, 'g-' || n FROM generate_series(1, ${ROWS}) n, unnest(ARRAY['order:' || n, 'region:r' || n % 50]) tag`,
      )
    }, 120_000)
    afterAll(() => client.end())

    it('A session that began on empty tables still finds its rows by their gids when there are many', async () => {
      const { url } = await databases.migrated('plans-kept')
      const store = await openPostgresStore({ url, connectionsMax: 2 })
      const rows = Array.from({ length: TURNS }, (_, turn) =>
        Array.from({ length: ROWS_PER_TURN }, (_, i) => aTransaction(`t-${turn}-${i}`)),
      )
      for (const turn of rows) {
        await Promise.all(turn.map((row) => store.create(row)))
        await Promise.all(turn.map((row) => store.update(makeUpdate(row))))
      }
      await store.close()
      const noSessions = `SELECT count(*) FROM pg_stat_activity WHERE usename = '${new URL(url).username}'`
      await expect.poll(async () => (await databases.sql(noSessions))[0]?.[0]).toBe('0')
      const counted = await databases.sql(
        `SELECT seq_tup_read, (SELECT idx_tup_read FROM pg_stat_user_indexes AS own WHERE own.relid = tables.relid AND indexrelname = 'counterstep_due')
         FROM pg_stat_user_tables AS tables WHERE schemaname = current_schema() AND relname = 'counterstep_transactions'`,
        (await databases.empty('plans-kept')).ownerUrl,
      )
      const [walked, due] = (counted[0] ?? []).map(Number)
      // A walk of all that are live at each turn would read half of them on average.
      expect(walked).toBeLessThan(TURNS * ROWS_PER_TURN)
      expect(due).toBeLessThan(TURNS * ROWS_PER_TURN)
    })

    for (const state of ['before ANALYZE', 'after ANALYZE']) {
      describe(state, () => {
        if (state === 'after ANALYZE') beforeAll(() => client.query('ANALYZE'), 60_000)

        // Autovacuum analyzes a table that grows. Before that the planner takes the due rows for few, and may sort them.
        for (const name of state === 'after ANALYZE' ? ['claim due', 'postpone due'] : []) {
          it(`The statement does not sort all rows of one instant before it locks the first: ${name}`, async () => {
            const [sql, values] = PLANS[name] as Plan
            const nodes = await explain(client, sql, values, 'force_custom_plan')
            const locking = nodes.filter((node) => node['Node Type'] === 'LockRows')
            expect(locking).toHaveLength(1)
            const types = locking.flatMap(flatten).map((node) => node['Node Type'])
            expect(types.filter((type) => type.endsWith('Sort'))).toEqual([])
          })
        }

        for (const [name, [sql, values, indexes]] of Object.entries(PLANS)) {
          for (const mode of name === 'flush' ? MODES : MODES.slice(0, 1)) {
            it(`The statement reaches its rows by its indexes and walks no table, ${state}, with ${mode}: ${name}`, async () => {
              const nodes = await explain(client, sql, values, mode)
              const tables = nodes.filter((node) => String(node['Relation Name']).startsWith('counterstep_'))
              const walked = tables.filter((node) => node['Node Type'] === 'Seq Scan')
              expect(walked.map((node) => node['Relation Name'])).toEqual([])
              const used = new Set(nodes.flatMap((node) => node['Index Name'] ?? []))
              for (const index of indexes) expect(used).toContain(index)
              if (name === 'list with a prefix') expect(used).not.toContain('counterstep_created')
            })
          }
        }
      })
    }
  })
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly Plans?: readonly PlanNode[]
}

/** Plans the statement for these values, or for any, as a session does for a statement with a name that it has run often. */
async function explain(
  client: pg.Client,
  sql: string,
  values: readonly Value[],
  mode: string,
): Promise<readonly PlanNode[]> {
  await client.query(`SET plan_cache_mode = ${mode}`)
  await client.query(`PREPARE planned AS ${sql}`)
  try {
    const list = values.length === 0 ? '' : `(${values.map(toLiteral).join(', ')})`
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE planned${list}`)
    return flatten(rows[0]['QUERY PLAN'][0].Plan)
  } finally {
    await client.query('DEALLOCATE planned')
  }
}

function flatten(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)]
}

function toLiteral(value: Value): string {
  if (value === null) return 'NULL'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return pg.escapeLiteral(value)
  const items = value.map((item) => (item === null ? 'NULL' : JSON.stringify(String(item))))
  return pg.escapeLiteral(`{${items.join(',')}}`)
}
