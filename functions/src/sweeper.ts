import { openFunctionParts } from './function-parts.ts'
import { createSweeperHandler } from './sweeper-handler.ts'

/** This is `index.handler` of the function that the schedule invokes. */
export const handler = createSweeperHandler(await openFunctionParts('sweeper'))
