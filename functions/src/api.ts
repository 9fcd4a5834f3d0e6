import { createApiHandler } from './api-handler.ts'
import { openFunctionParts } from './function-parts.ts'

/** This is `index.handler` of the function that takes requests. */
export const handler = await createApiHandler(await openFunctionParts('api'))
