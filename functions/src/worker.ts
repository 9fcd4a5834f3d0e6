import { openFunctionParts } from './function-parts.ts'
import { createWorkerHandler } from './worker-handler.ts'

/** This is `index.handler` of the function that the queue invokes. */
export const handler = createWorkerHandler(await openFunctionParts('worker'))
