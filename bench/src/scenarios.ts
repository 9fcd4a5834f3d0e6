import type { Scenario } from './scenario.ts'
import { relay } from './scenarios/relay.ts'
import { saga } from './scenarios/saga.ts'

export const SCENARIOS: readonly Scenario[] = [relay, saga]
