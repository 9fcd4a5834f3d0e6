/** Where the participants' process may be told to die. */
export const DEATH_POINTS = [
  'xa-started',
  'xa-registered',
  'xa-prepared',
  'xa-decided',
  'step-done',
  'step-reported',
  'workflow-ended',
] as const
export type DeathPoint = (typeof DEATH_POINTS)[number]

/** Kills its own process with SIGKILL when it next gets to the point that was ordered. */
export class OrderedDeath {
  #point: DeathPoint | undefined

  order(point: DeathPoint): void {
    this.#point = point
  }

  reach(point: DeathPoint): void {
    if (this.#point === point) process.kill(process.pid, 'SIGKILL')
  }
}
