import { toTimedLength } from '../load/to-timed-length.ts'
import { measureInTurn, type RowSource } from '../rounds.ts'
import { divideSpreads, type Ratio, type Row, toRatio } from '../row.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { type Spread, toSpread } from '../spread.ts'
import { isDatabaseInMemory } from '../stores/is-database-in-memory.ts'
import { mysqlDurabilityClass } from '../stores/mysql-durability.ts'
import { type OwnMysql, openOwnMysql } from '../stores/open-own-mysql.ts'
import { WAYS, type Way } from './hot-row/callers-job.ts'
import { HotRowFixture } from './hot-row/hot-row-fixture.ts'

/** Each way gets so many warm-ups of a row before the first round. */
const FIRST_WARM_UPS = 5

interface HotRowSource extends RowSource {
  readonly way: Way
  readonly callers: number
}

export const hotRow: Scenario = {
  name: 'hot-row',
  summary:
    'one row of a database: bare UPDATE, barrier, grouped barrier; 1, 2, 4 … callers up to --connections',
  // Three ways and seven numbers of callers within a minute.
  defaults: { store: 'mariadb', seconds: 0.5, warmUpSeconds: 0.2 },
  async run(context) {
    const { harness, settings, progress } = context
    const mysql = await openOwnMysql(harness, settings.store)
    const fixture = await HotRowFixture.open(harness, mysql)
    progress.show('warming up')
    const length = {
      type: 'time',
      warmUpSeconds: 0,
      seconds: FIRST_WARM_UPS * settings.warmUpSeconds,
    } as const
    for (const way of WAYS) await fixture.measure(way, settings.connections, length)
    const sources = makeSources(fixture, context)
    const rows = await measureInTurn(context, sources)
    progress.show('auditing')
    const { software } = mysql.host
    return {
      store: {
        name: 'mysql',
        durabilityClass: mysqlDurabilityClass(software.settings),
        // A private server has no replicas.
        failover: 'none',
        software,
      },
      rows,
      ratios: toRatios(sources, rows, settings.connections),
      counters: await auditAll(fixture),
      notes: [...(await memoryNotes(mysql)), ...NOTES],
    }
  },
}

const NOTES = [
  'per second: calls that ran; a duplicate, or a refusal since the balance was too small, is an answer, and is not counted there. Both are counted for one round, answers for all',
  'grouped with few callers: a call that is alone has one statement more than the plain one, since it reads the balance before it writes',
  'update: UPDATE c = c + 1 in autocommit, no barrier. plain: barrier, ledger row, conditional UPDATE. grouped: the same in groups',
  'commits/call: database transactions that wrote, by the database’s own counter, for one call that ran or was answered as a duplicate; log writes: of its binary log',
  'audit: each balance is what it was and its ledger’s sum; each call that ran has one ledger row and one barrier row; nothing sent twice ran twice',
]

function makeSources(fixture: HotRowFixture, { settings }: ScenarioContext): readonly HotRowSource[] {
  return callerCounts(settings.connections).flatMap((callers) =>
    WAYS.map((way) => ({
      name: `${way}, ${callers} ${callers === 1 ? 'caller' : 'callers'}`,
      way,
      callers,
      measure: () => fixture.measure(way, callers, toTimedLength(settings)),
    })),
  )
}

/** The powers of two below `max`, and it. */
export function callerCounts(max: number): readonly number[] {
  const counts: number[] = []
  for (let callers = 1; callers < max; callers *= 2) counts.push(callers)
  return [...counts, max]
}

function toRatios(sources: readonly HotRowSource[], rows: readonly Row[], callers: number): readonly Ratio[] {
  const filterRows = (way: Way) => rows.filter((_, index) => sources[index]?.way === way)
  const rowAt = (way: Way): Row => {
    const row = rows[sources.findIndex((source) => source.way === way && source.callers === callers)]
    if (row === undefined) throw new Error(`${way} was not measured with ${callers} callers`)
    return row
  }
  return [
    toRatio('grouped/plain', rowAt('grouped'), rowAt('plain')),
    toRatio('grouped/update', rowAt('grouped'), rowAt('update')),
    {
      name: 'grouped/plain, each with its best number of callers',
      spread: divideSpreads(findBest(filterRows('grouped')), findBest(filterRows('plain'))),
    },
  ]
}

/** Returns the highest rate of each round. */
function findBest(rows: readonly Row[]): Spread {
  const [first] = rows
  if (first === undefined) throw new Error('a way was not measured')
  return toSpread(
    first.perSecond.rounds.map((_, round) =>
      Math.max(...rows.map(({ perSecond }) => perSecond.rounds[round] ?? 0)),
    ),
  )
}

async function auditAll(fixture: HotRowFixture): Promise<Readonly<Record<string, number>>> {
  const counters: Record<string, number> = {}
  for (const way of WAYS) {
    for (const [name, count] of Object.entries({ ...fixture.totals[way], ...(await fixture.audit(way)) }))
      counters[`${way} ${name}`] = count
  }
  return counters
}

async function memoryNotes({ link }: OwnMysql): Promise<readonly string[]> {
  return (await isDatabaseInMemory(link))
    ? [
        'CAUTION: the database lies in memory, where a commit costs next to nothing: the ratio is smaller than on a disk',
      ]
    : []
}
