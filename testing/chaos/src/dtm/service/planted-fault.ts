/** Faults of the participants, for runs that must fail. */
export const PLANTED_FAULTS = ['none', 'no-rollback', 'no-barrier'] as const
export type PlantedFault = (typeof PLANTED_FAULTS)[number]
