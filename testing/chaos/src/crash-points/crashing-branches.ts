import type { BranchCaller } from '@counterstep/core'
import type { CrashSwitch } from './crash-switch.ts'

/** The branch caller, with a crash point before a call is sent and after its answer came. */
export function crashingBranches(branches: BranchCaller, crash: CrashSwitch): BranchCaller {
  return {
    call: (call) => crash.around('call', () => branches.call(call)),
    close: () => branches.close(),
  }
}
