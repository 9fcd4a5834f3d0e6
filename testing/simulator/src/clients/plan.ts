import type { PreparedPlan } from './prepared-plan.ts'
import type { SagaPlan } from './saga-plan.ts'

/** What a client of a world wants done. */
export type Plan = SagaPlan | PreparedPlan
