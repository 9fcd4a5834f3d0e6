import type { Scenario } from './scenario.ts'
import { commits } from './scenarios/commits.ts'
import { flat } from './scenarios/flat.ts'
import { hotRow } from './scenarios/hot-row.ts'
import { recover } from './scenarios/recover.ts'
import { relay } from './scenarios/relay.ts'
import { saga } from './scenarios/saga.ts'

export const SCENARIOS: readonly Scenario[] = [relay, saga, recover, flat, commits, hotRow]
