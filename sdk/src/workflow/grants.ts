/** So many local steps may run within one plan call, if the workflow has a barrier. Without one none may. */
const GRANTS_DEFAULT = 8

export function countGrantsByDefault(hasBarrier: boolean): number {
  return hasBarrier ? GRANTS_DEFAULT : 0
}
