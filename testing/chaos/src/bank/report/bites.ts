import type { ChaosFaults } from '../chaos-result.ts'
import type { ChaosSettings } from '../chaos-settings.ts'

/** Kills that found work, of all kills. */
const KILLS_WITH_WORK_MIN = 0.8
/** These are for 2,000 sagas; fewer sagas need fewer. */
const FULL_SAGAS = 2_000
const HANGING_MIN = 20
const NULL_COMPENSATIONS_MIN = 20
const DUPLICATES_MIN = 100
const IDS_HANDED_ON_MIN = 500
const ANSWERS_ANEW_MIN = 20
const UNDONE_UNKNOWN_MIN = 20
const SIGNALS_MIN = 20
const WORKFLOWS_MIN = 150
const WORKFLOWS_UNDONE_MIN = 20
const PLANS_SENT_AGAIN_MIN = 50
const SLOTS_SEALED_MIN = 100
const FAILURES_CAUGHT_MIN = 5
const CHANGED_CODE_MIN = 20
/** These are of the deaths that were ordered. */
const DEATHS_UNDONE_MIN = 0.25
const DEATHS_SURVIVED_MIN = 0.05
/** In a run of workflows alone there are so many times as many of them. */
const ONLY_WORKFLOWS = 8
const COMMANDS_MIN = 150
const COMMANDS_REPEATED_MIN = 40
const COMMANDS_OF_A_KIND_MIN = 8
const BULK_COMMANDS_MIN = 10

/** Lists the faults that were ordered and did not happen, or hit nothing. */
export function unbittenFaults(
  settings: ChaosSettings,
  faults: ChaosFaults,
  hasNetwork: boolean,
): readonly string[] {
  const { sagas, kills, pauses, ambiguous, guard, onlyWorkflows } = settings
  const share = Math.min(1, sagas / FULL_SAGAS)
  const unbitten: string[] = []
  const need = (what: string, count: number, min: number) => {
    if (count < min) unbitten.push(`${what}: ${count}, at least ${Math.ceil(min)} were to be`)
  }
  need('servers killed', faults.serverKills, kills)
  need('kills with work under way', faults.killsWithWork, Math.floor(kills * KILLS_WITH_WORK_MIN))
  need('servers paused', faults.serverPauses, pauses)
  if (hasNetwork) {
    need('ambiguous commits', faults.ambiguousCommits, ambiguous)
    need('fenced writes', faults.fencedWrites, Math.min(1, pauses))
  }
  if (guard === 'barrier') {
    need('null compensations', faults.nullCompensations, NULL_COMPENSATIONS_MIN * share)
    need('hanging actions blocked', faults.hangingActionsBlocked, HANGING_MIN * share)
    need('ids handed on', faults.idsHandedOn, IDS_HANDED_ON_MIN * share)
    if (!onlyWorkflows) {
      need('answers given anew', faults.answersAnew, ANSWERS_ANEW_MIN * share)
      need('compensations without the id', faults.undoneUnknown, UNDONE_UNKNOWN_MIN * share)
    }
    need('waits ended by a signal', faults.signalsTaken, SIGNALS_MIN * share)
    need('waits ended by their timeout', faults.signalTimeouts, SIGNALS_MIN * share)
    need('signals acknowledged again', faults.signalsDoubled, SIGNALS_MIN * share)
    need('points of no return passed', faults.marks, SIGNALS_MIN * share)
    const ofWorkflows = share * (onlyWorkflows ? ONLY_WORKFLOWS : 1)
    need('workflows', faults.workflows, WORKFLOWS_MIN * ofWorkflows)
    need('workflows turned around', faults.workflowsUndone, WORKFLOWS_UNDONE_MIN * ofWorkflows)
    need('plan calls sent again', faults.plansSentAgain, PLANS_SENT_AGAIN_MIN * ofWorkflows)
    need('slots sealed', faults.slotsSealed, SLOTS_SEALED_MIN * ofWorkflows)
    need('workflows that caught a failure', faults.failuresCaught, FAILURES_CAUGHT_MIN * ofWorkflows)
    need('workflows begun by changed code', faults.changedCode, CHANGED_CODE_MIN * ofWorkflows)
    need('handlers dead between two commits', faults.deathsBetweenCommits, Math.ceil(kills / 2))
    need('handlers dead before their answer', faults.deathsBeforeAnswer, Math.floor(kills / 2))
    need('workflows undone after such a death', faults.deathsUndone, kills * DEATHS_UNDONE_MIN)
    need(
      'workflows that survived such a death',
      faults.deathsSurvived,
      Math.floor(kills * DEATHS_SURVIVED_MIN),
    )
    need('commands of operators', faults.commandsGiven, COMMANDS_MIN * share)
    need('commands sent once more', faults.commandsRepeated, COMMANDS_REPEATED_MIN * share)
    // Whether a short run loses such an answer is left to chance: it has few kills, and each hits few commands.
    if (share === 1) need('commands with a lost answer', faults.commandsSentAgain, COMMANDS_OF_A_KIND_MIN)
    need('pauses by operators', faults.pauses, COMMANDS_OF_A_KIND_MIN * share)
    need('skips by operators', faults.skips, COMMANDS_OF_A_KIND_MIN * share)
    need('edits by operators', faults.edits, COMMANDS_OF_A_KIND_MIN * share)
    need('commands by a bulk job', faults.bulkCommands, BULK_COMMANDS_MIN * share)
    need('duplicates filtered', faults.duplicatesFiltered, DUPLICATES_MIN * share)
  }
  return unbitten
}
