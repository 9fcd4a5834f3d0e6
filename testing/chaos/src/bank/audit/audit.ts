import type { Evidence } from '../evidence.ts'
import { auditApprovals } from './audit-approvals.ts'
import { auditClients } from './audit-clients.ts'
import { auditCommands } from './audit-commands.ts'
import { auditEnds, auditOrder } from './audit-effects.ts'
import { auditMoney } from './audit-money.ts'
import { auditSecrets } from './audit-secrets.ts'
import { auditHistory, auditPhantoms, auditStored } from './audit-store.ts'
import { auditValues } from './audit-values.ts'
import { auditWorkflows } from './audit-workflows.ts'
import { EffectIndex } from './branch-effects.ts'
import type { Violation } from './violation.ts'

/** Holds everything that was seen and everything that is stored to the invariants. Empty: nothing is wrong. */
export function audit(evidence: Evidence): readonly Violation[] {
  const effects = new EffectIndex(evidence.banks)
  return [
    ...auditStored(evidence),
    ...auditPhantoms(evidence),
    ...auditHistory(evidence),
    ...auditEnds(evidence, effects),
    ...auditOrder(effects),
    ...auditMoney(evidence),
    ...auditClients(evidence),
    ...auditValues(evidence),
    ...auditApprovals(evidence),
    ...auditWorkflows(evidence, effects),
    ...auditCommands(evidence),
    ...auditSecrets(evidence),
  ]
}
