import type { Scenario } from './scenario.ts'
import { commits } from './scenarios/commits.ts'
import { dtm } from './scenarios/dtm.ts'
import { flat } from './scenarios/flat.ts'
import { hotPath } from './scenarios/hot-path.ts'
import { hotRow } from './scenarios/hot-row.ts'
import { inProcess } from './scenarios/in-process.ts'
import { latency } from './scenarios/latency.ts'
import { lists } from './scenarios/lists.ts'
import { memory } from './scenarios/memory.ts'
import { peers } from './scenarios/peers.ts'
import { recover } from './scenarios/recover.ts'
import { relay } from './scenarios/relay.ts'
import { saga } from './scenarios/saga.ts'
import { sagaBranches } from './scenarios/saga-branches.ts'
import { sagaConnections } from './scenarios/saga-connections.ts'
import { sagaEmpty } from './scenarios/saga-empty.ts'
import { sagaEmptyRetention } from './scenarios/saga-empty-retention.ts'
import { scale } from './scenarios/scale.ts'
import { signed } from './scenarios/signed.ts'
import { submit } from './scenarios/submit.ts'
import { traces } from './scenarios/traces.ts'
import { transfer } from './scenarios/transfer.ts'
import { twoWritesBaseline } from './scenarios/two-writes-baseline.ts'
import { workflow } from './scenarios/workflow.ts'

export const SCENARIOS: readonly Scenario[] = [
  relay,
  saga,
  twoWritesBaseline,
  inProcess,
  sagaConnections,
  sagaBranches,
  sagaEmpty,
  sagaEmptyRetention,
  signed,
  latency,
  submit,
  memory,
  lists,
  scale,
  recover,
  flat,
  commits,
  hotPath,
  hotRow,
  traces,
  transfer,
  workflow,
  dtm,
  peers,
]
