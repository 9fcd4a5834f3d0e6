import { BY_HAND_ENGINE } from './by-hand-engine.ts'
import { COUNTERSTEP } from './counterstep-engines.ts'
import { DBOS_ENGINE } from './dbos-engine.ts'
import { DTM } from './dtm-engines.ts'
import type { EngineKind } from './engine.ts'
import { RELAY_ENGINE } from './relay-engine.ts'
import { RESTATE_ENGINE } from './restate-engine.ts'

/** Those that are compared stand beside each other, so that little time lies between their turns. */
export const ENGINES: readonly EngineKind[] = [
  RELAY_ENGINE,
  COUNTERSTEP.sqlite,
  DTM.boltdb,
  RESTATE_ENGINE,
  COUNTERSTEP.mariadb,
  BY_HAND_ENGINE,
  DTM.mariadb,
  COUNTERSTEP.redisAlways,
  DTM.redisAlways,
  COUNTERSTEP.redisEverySecond,
  DTM.redisEverySecond,
  COUNTERSTEP.postgres,
  DBOS_ENGINE,
]

/** Pairs of which the first is divided by the second, where both are measured. */
export const COMPARED: readonly (readonly [above: EngineKind, below: EngineKind])[] = [
  [COUNTERSTEP.sqlite, RELAY_ENGINE],
  [COUNTERSTEP.sqlite, DTM.boltdb],
  [COUNTERSTEP.sqlite, RESTATE_ENGINE],
  [COUNTERSTEP.mariadb, RELAY_ENGINE],
  [COUNTERSTEP.mariadb, BY_HAND_ENGINE],
  [COUNTERSTEP.mariadb, DTM.mariadb],
  [COUNTERSTEP.redisAlways, RELAY_ENGINE],
  [COUNTERSTEP.redisAlways, DTM.redisAlways],
  [COUNTERSTEP.redisEverySecond, RELAY_ENGINE],
  [COUNTERSTEP.redisEverySecond, DTM.redisEverySecond],
  [COUNTERSTEP.postgres, RELAY_ENGINE],
  [COUNTERSTEP.postgres, DBOS_ENGINE],
]

/** Chooses engines by names with commas between; a name also stands for those that begin with it. Throws for an unknown one. */
export function chooseEngines(
  only: string | undefined,
  engines: readonly EngineKind[] = ENGINES,
): readonly EngineKind[] {
  if (only === undefined) return engines
  const wanted = only.split(',').map((name) => name.trim())
  const isMeant = (name: string, engine: string) => engine === name || engine.startsWith(`${name}-`)
  for (const name of wanted) {
    if (!engines.some((engine) => isMeant(name, engine.name)))
      throw new Error(`--only ${name}: there are ${engines.map((engine) => engine.name).join(', ')}`)
  }
  return engines.filter((engine) => wanted.some((name) => isMeant(name, engine.name)))
}
