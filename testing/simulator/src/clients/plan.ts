import type { PreparedPlan } from './prepared-plan.ts'
import type { SagaPlan } from './saga-plan.ts'

/** The transaction that a client of a world submits. */
export type Plan = SagaPlan | PreparedPlan
