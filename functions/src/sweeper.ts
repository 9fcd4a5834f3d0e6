import { openHome } from './function-parts.ts'
import { sweeperHandler } from './sweeper-handler.ts'

/** `index.handler` of the function that the schedule invokes. */
export const handler = sweeperHandler(await openHome('sweeper'))
