import { openHome } from './function-parts.ts'
import { workerHandler } from './worker-handler.ts'

/** `index.handler` of the function that the queue invokes. */
export const handler = workerHandler(await openHome('worker'))
